package dev.ullage.cli.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Slurm as it is, small: one controller and two node daemons of this host on loopback ports, with a munge daemon, key
 * and folders of their own. Everything runs as the user of the test, and ends with it.
 */
final class MiniSlurm implements AutoCloseable {
    private static final Duration READY_WITHIN = Duration.ofSeconds(60);
    private static final int KEY_BYTES = 1024;
    private static final String SETTINGS =
            """
            ClusterName=ullage
            SlurmctldHost=%1$s(127.0.0.1)
            SlurmctldPort=%2$d
            SlurmUser=%3$s
            SlurmdUser=%3$s
            AuthType=auth/munge
            AuthInfo=socket=%4$s/munge.sock
            CredType=cred/munge
            ProctrackType=proctrack/linuxproc
            TaskPlugin=task/none
            SelectType=select/cons_tres
            SelectTypeParameters=CR_Core
            SwitchType=switch/none
            JobAcctGatherType=jobacct_gather/none
            AccountingStorageType=accounting_storage/none
            MpiDefault=none
            ReturnToService=2
            SlurmdParameters=config_overrides
            SlurmctldPidFile=%4$s/slurmctld.pid
            SlurmdPidFile=%4$s/slurmd-%%n.pid
            SlurmdSpoolDir=%4$s/spool-%%n
            StateSaveLocation=%4$s/state
            SlurmctldLogFile=%4$s/slurmctld.log
            SlurmdLogFile=%4$s/slurmd-%%n.log
            NodeName=n0 NodeHostname=%1$s NodeAddr=127.0.0.1 Port=%5$d CPUs=4
            NodeName=n1 NodeHostname=%1$s NodeAddr=127.0.0.1 Port=%6$d CPUs=4
            PartitionName=all Nodes=n0,n1 Default=YES State=UP
            """;

    private final Path folder;
    private final List<TestProcess> daemons = new ArrayList<>();

    private MiniSlurm(Path folder) {
        this.folder = folder;
    }

    static MiniSlurm start(Path folder) {
        MiniSlurm slurm = new MiniSlurm(folder);
        try {
            slurm.write();
            slurm.startAll();
        } catch (IOException e) {
            slurm.close();
            throw new UncheckedIOException(e);
        } catch (RuntimeException | Error e) {
            slurm.close();
            throw e;
        }
        return slurm;
    }

    private void write() throws IOException {
        Files.createDirectories(folder.resolve("state"));
        byte[] key = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(key);
        Files.write(folder.resolve("munge.key"), key);
        Files.setPosixFilePermissions(folder.resolve("munge.key"), PosixFilePermissions.fromString("r--------"));
        String host = InetAddress.getLocalHost().getHostName().replaceFirst("\\..*", "");
        Files.writeString(
                settings(),
                SETTINGS.formatted(
                        host, Ports.free(), System.getProperty("user.name"), folder, Ports.free(), Ports.free()));
    }

    private Path settings() {
        return folder.resolve("slurm.conf");
    }

    private void startAll() {
        daemon(
                "munged",
                "/usr/sbin/munged",
                "--foreground",
                "--force",
                "--key-file=" + folder.resolve("munge.key"),
                "--socket=" + folder.resolve("munge.sock"),
                "--pid-file=" + folder.resolve("munge.pid"),
                "--seed-file=" + folder.resolve("munge.seed"),
                "--log-file=" + folder.resolve("munge.log"));
        Eventually.holds(
                "munged listens", READY_WITHIN, () -> Files.exists(folder.resolve("munge.sock")), () -> daemons.get(0)
                        .log());
        daemon("slurmctld", "/usr/sbin/slurmctld", "-D", "-f", settings().toString());
        daemon(
                "slurmd-n0",
                "/usr/sbin/slurmd",
                "-D",
                "-N",
                "n0",
                "-f",
                settings().toString());
        daemon(
                "slurmd-n1",
                "/usr/sbin/slurmd",
                "-D",
                "-N",
                "n1",
                "-f",
                settings().toString());
        Eventually.holds("both nodes are idle", READY_WITHIN, this::areIdle, () -> daemons.stream()
                .map(TestProcess::log)
                .reduce("", String::concat));
    }

    private void daemon(String name, String... command) {
        daemons.add(TestProcess.start(folder, name, List.of(command), variables()));
    }

    private boolean areIdle() {
        try (TestProcess info =
                TestProcess.start(folder, "sinfo", List.of("sinfo", "--noheader", "--format=%T %D"), variables())) {
            info.awaitExit(READY_WITHIN);
            return info.log().strip().equals("idle 2");
        }
    }

    /** What a command of Slurm needs to find this one. */
    Map<String, String> variables() {
        return Map.of("SLURM_CONF", settings().toString());
    }

    /** In the reverse order of their start; a step's processes end with their daemon's job. */
    @Override
    public void close() {
        for (int i = daemons.size() - 1; i >= 0; i--) {
            try (TestProcess daemon = daemons.get(i)) {
                if (daemon.isAlive()) {
                    daemon.stop();
                }
            }
        }
    }
}
