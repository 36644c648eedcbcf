package dev.ullage.cli.run;

import java.util.Map;

/**
 * The options of the launchers, from their manuals: torchrun of PyTorch 1.13 to 2.10, mpirun of Open MPI 4 and 5 and
 * MPICH's, srun of Slurm 22 to 25, horovodrun 0.28, deepspeed 0.18.
 */
final class LauncherOptions {
    private static final OptionTable TORCHRUN = OptionTable.of(
            "standalone m module no-python run-path h help use-env signals-to-handle-default virtual-local-rank",
            "nnodes nproc-per-node rdzv-backend rdzv-endpoint rdzv-id rdzv-conf max-restarts monitor-interval"
                    + " start-method role log-dir r redirects t tee local-ranks-filter node-rank master-addr"
                    + " master-port local-addr logs-specs event-log-handler numa-binding signals-to-handle"
                    + " shutdown-timeout duplicate-stdout-filters duplicate-stderr-filters",
            "",
            false);

    private static final OptionTable MPIRUN = OptionTable.of(
            "allow-run-as-root oversubscribe nooversubscribe bynode byslot bycore bind-to-core bind-to-socket"
                    + " bind-to-none display-map display-allocation display-devel-map display-topo report-bindings"
                    + " tag-output timestamp-output q quiet v verbose nolocal novm pernode enable-recovery"
                    + " disable-recovery leave-session-attached use-hwthread-cpus do-not-launch do-not-resolve"
                    + " continuous debug-daemons d debug-devel s preload-binary merge-stderr-to-stdout"
                    + " report-state-on-timeout get-stack-traces index-argv-by-rank show-progress genvall genvnone"
                    + " envall envnone prepend-rank l",
            "np n c host hosts H hostfile machinefile default-hostfile f x bind-to map-by rank-by npernode"
                    + " npersocket ppr ppn perhost wdir wd path prefix output-filename output tmpdir rankfile rf stdin"
                    + " timeout report-uri report-pid preload-files ompi-server personality cpu-set cpu-list"
                    + " cpus-per-proc cpus-per-rank max-restarts max-vm-size forward-signals tune am xterm genvlist"
                    + " envlist launcher iface rmk launcher-exec display",
            "mca gmca pmca prtemca pmixmca genv env",
            false);

    private static final OptionTable SRUN = OptionTable.of(
            "E h H j k l O Q s u v V X Z I K contiguous disable-status exact exclusive hold immediate kill-on-bad-exit"
                    + " label multi-prog no-allocate no-kill overcommit oversubscribe overlap preserve-env pty quiet"
                    + " quit-on-interrupt reboot send-libs spread-job test-only unbuffered use-min-nodes verbose"
                    + " bcast compress nice propagate x11 whole external interactive help usage version",
            "A B c C d D e G i J L m M n N o p q r S t T w W x account acctg-freq array bb bbf begin chdir"
                    + " cluster-constraint clusters comment constraint container container-id core-spec"
                    + " cores-per-socket cpu-bind cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency"
                    + " distribution epilog error exclude export export-file extra extra-node-info gid gpu-bind"
                    + " gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags het-group hint input"
                    + " jobid job-name licenses mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu"
                    + " mincpus mpi msg-timeout network nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu"
                    + " ntasks-per-node ntasks-per-socket open-mode output partition power prefer priority profile"
                    + " prolog qos relative reservation signal slurmd-debug sockets-per-node switches task-epilog"
                    + " task-prolog thread-spec threads threads-per-core time time-min tmp tree-width tres-bind"
                    + " tres-per-task uid wait wckey",
            "",
            true);

    private static final OptionTable HOROVODRUN = OptionTable.of(
            "v version verbose disable-cache autotune no-autotune gloo mpi js check-build cb"
                    + " hierarchical-allreduce no-hierarchical-allreduce hierarchical-allgather"
                    + " no-hierarchical-allgather timeline-mark-cycles no-timeline-mark-cycles no-stall-check"
                    + " stall-check log-without-timestamp log-with-timestamp log-hide-timestamp tcp"
                    + " prefix-output-with-timestamp mpi-threads-disable no-mpi-threads-disable h help",
            "np num-proc p ssh-port i ssh-identity-file H hosts hostfile host-discovery-script min-np max-np"
                    + " min-num-proc max-num-proc slots-per-host slots elastic-timeout reset-limit cooldown-range"
                    + " blacklist-cooldown-range start-timeout network-interfaces network-interface output-filename"
                    + " config-file fusion-threshold-mb cycle-time-ms cache-capacity autotune-log-file"
                    + " autotune-warmup-samples autotune-steps-per-sample autotune-bayes-opt-max-samples"
                    + " autotune-gaussian-process-noise timeline-filename stall-check-warning-time-seconds"
                    + " stall-check-shutdown-time-seconds log-level mpi-args num-nccl-streams thread-affinity"
                    + " gloo-timeout-seconds binding-args",
            "",
            false);

    private static final OptionTable DEEPSPEED = OptionTable.of(
            "module no-python no-local-rank no-ssh no-ssh-check force-multi save-pid elastic-training"
                    + " bind-cores-to-rank q quiet h help",
            "H hostfile i include e exclude num-nodes min-elastic-nodes max-elastic-nodes num-gpus num-accelerators"
                    + " master-port master-addr node-rank launcher launcher-args enable-each-rank-log autotuning"
                    + " comment account bind-core-list ssh-port log-level venv-script",
            "",
            false);

    private static final Map<Launcher, OptionTable> TABLES = Map.of(
            Launcher.TORCHRUN, TORCHRUN,
            Launcher.MPIRUN, MPIRUN,
            Launcher.SRUN, SRUN,
            Launcher.HOROVODRUN, HOROVODRUN,
            Launcher.DEEPSPEED, DEEPSPEED);

    private LauncherOptions() {}

    static OptionTable of(Launcher launcher) {
        OptionTable table = TABLES.get(launcher);
        if (table == null) {
            throw new IllegalArgumentException(launcher + " has no options that are known");
        }
        return table;
    }
}
