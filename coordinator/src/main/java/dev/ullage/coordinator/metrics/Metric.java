package dev.ullage.coordinator.metrics;

import java.util.List;

/**
 * Every metric there is, with all its labels: a series can have no label that is not named here, and none here changes
 * from one reading to the next. docs/metrics.md is compared with this list.
 */
enum Metric {
    COORDINATOR_UP(Kind.GAUGE, "ullage_coordinator_up", Label.NONE, "1 if a coordinator answered this node, else 0."),
    COORDINATOR_INFO(
            Kind.INFO,
            "ullage_coordinator",
            List.of("node", "state"),
            "The coordinator that answered and its state: claiming, learning or active."),
    COORDINATOR_ACTIVE(
            Kind.GAUGE, "ullage_coordinator_active", Label.NONE, "1 if the coordinator makes plans, else 0."),
    COORDINATOR_EPOCH(
            Kind.GAUGE,
            "ullage_coordinator_epoch",
            Label.NONE,
            "Epoch of the coordinator's token; grows with every take-over."),
    ROLLOUTS(
            Kind.GAUGE,
            "ullage_rollouts",
            List.of("state"),
            "Devices whose newest plan is in this state; every state is there."),
    ROLLOUT_SECONDS(
            Kind.HISTOGRAM,
            "ullage_rollout_seconds",
            Label.NONE,
            "Time from a plan to the last confirmation; each settled plan that this node saw is counted once."),
    OOM_MOVES(
            Kind.COUNTER,
            "ullage_oom_moves",
            List.of("job", "level"),
            "Directives after out-of-memory errors; each one that this node saw is counted once."),
    OOM_DIRECTIVES(
            Kind.GAUGE,
            "ullage_oom_directives",
            List.of("state"),
            "Jobs whose newest directive is in this state; every state is there."),
    OOM_APPLY_SECONDS(
            Kind.HISTOGRAM,
            "ullage_oom_apply_seconds",
            Label.NONE,
            "Time from a rank's report to when all ranks had done the directive; each that this node saw counts once."),
    QUEUE_JOBS(
            Kind.GAUGE,
            "ullage_queue_jobs",
            List.of("state"),
            "Jobs that asked for room: waiting, placing (ledgers are being asked) or placed."),
    QUEUE_ATTEMPTS(
            Kind.COUNTER,
            "ullage_queue_attempts",
            List.of("result"),
            "Attempts to place a job since the coordinator started: placed or failed."),
    QUEUE_WAIT_SECONDS(
            Kind.HISTOGRAM,
            "ullage_queue_wait_seconds",
            Label.NONE,
            "How long jobs had waited when they were placed, since the coordinator started."),
    SCRAPE_SECONDS(
            Kind.GAUGE,
            "ullage_scrape_seconds",
            Label.NONE,
            "How long the coordinator took to answer and its answer to become metrics."),
    DECISIONS_WRITTEN(
            Kind.COUNTER,
            "ullage_decision_records_written",
            Label.NONE,
            "Records that this node's process wrote to its decision log."),
    DECISIONS_DROPPED(
            Kind.COUNTER,
            "ullage_decision_records_dropped",
            Label.NONE,
            "Records that it did not: too many were waiting, or the disk failed."),
    LEFT_OUT(
            Kind.GAUGE,
            "ullage_metrics_left_out",
            List.of("kind"),
            "Nodes, devices and ranks without metrics, because there are more than this page shows."),

    NODE_AGE(Kind.GAUGE, "ullage_node_age_seconds", Label.NODE, "Time since the node's worker was last heard."),
    NODE_CPU(
            Kind.GAUGE,
            "ullage_node_cpu_cores",
            Label.NODE,
            "Processor time that the node's host has for ranks, in cores; half of one is 0.5."),
    NODE_CPU_ASKED(
            Kind.GAUGE, "ullage_node_cpu_asked_cores", Label.NODE, "Of this, what jobs with reserved room asked for."),
    NODE_MEMORY(Kind.GAUGE, "ullage_node_memory_bytes", Label.NODE, "Memory that the node's host has for ranks."),
    NODE_MEMORY_AVAILABLE(
            Kind.GAUGE, "ullage_node_memory_available_bytes", Label.NODE, "Of this, what can be had now."),
    NODE_MEMORY_ASKED(
            Kind.GAUGE,
            "ullage_node_memory_asked_bytes",
            Label.NODE,
            "Of this, what jobs with reserved room asked for; nothing holds them to it."),

    DEVICE_INFO(
            Kind.INFO,
            "ullage_device",
            List.of("node", "device", "index", "name", "kind", "pci_bus_id"),
            "How the driver describes a device now; the bus id is empty where there is none."),
    DEVICE_TOTAL(Kind.GAUGE, "ullage_device_memory_total_bytes", Label.DEVICE, "All memory of the device."),
    DEVICE_RESERVED(
            Kind.GAUGE, "ullage_device_memory_reserved_bytes", Label.DEVICE, "Memory the driver keeps for itself."),
    DEVICE_ALLOCATABLE(
            Kind.GAUGE,
            "ullage_device_memory_allocatable_bytes",
            Label.DEVICE,
            "Total less what the driver keeps: all that processes can be given."),
    DEVICE_USED(Kind.GAUGE, "ullage_device_memory_used_bytes", Label.DEVICE, "Memory allocated by processes."),
    DEVICE_FREE(Kind.GAUGE, "ullage_device_memory_free_bytes", Label.DEVICE, "Memory that is not allocated."),
    DEVICE_FOREIGN(
            Kind.GAUGE,
            "ullage_device_memory_foreign_bytes",
            Label.DEVICE,
            "Memory of processes that are no rank of ours."),
    DEVICE_FOREIGN_PLANNED(
            Kind.GAUGE,
            "ullage_device_memory_foreign_planned_bytes",
            Label.DEVICE,
            "Bytes that limits are planned with for processes that are no rank of ours; a bound where their memory is"
                    + " not known."),
    DEVICE_BUDGET_WANTED(
            Kind.GAUGE,
            "ullage_device_budget_wanted_bytes",
            Label.DEVICE,
            "What the ranks may be promised by the reserve that was asked for."),
    DEVICE_BUDGET_IN_FORCE(
            Kind.GAUGE,
            "ullage_device_budget_in_force_bytes",
            Label.DEVICE,
            "What the ranks may be promised now; a raised reserve comes in force when the ceilings fit."),
    DEVICE_CEILINGS(
            Kind.GAUGE,
            "ullage_device_ceilings_bytes",
            Label.DEVICE,
            "The sum of what the ranks of the device may still believe."),
    DEVICE_HIGHEST_PROMISED(
            Kind.GAUGE,
            "ullage_device_highest_promised_bytes",
            Label.DEVICE,
            "The highest sum of ceilings since the worker started."),
    DEVICE_OVER_BUDGET(
            Kind.GAUGE,
            "ullage_device_over_budget",
            Label.DEVICE,
            "1 if the ceilings are above the wanted budget, so that no rank may grow; else 0."),
    DEVICE_RESERVE_WANTED(
            Kind.GAUGE,
            "ullage_device_reserve_wanted_ratio",
            Label.DEVICE,
            "The share of the allocatable memory that was asked to be kept free, 0 to 1."),
    DEVICE_RESERVE_IN_FORCE(
            Kind.GAUGE,
            "ullage_device_reserve_in_force_ratio",
            Label.DEVICE,
            "The share of the allocatable memory that is kept free now, 0 to 1."),
    DEVICE_SAMPLE_AGE(
            Kind.GAUGE,
            "ullage_device_sample_age_seconds",
            Label.DEVICE,
            "Time since the device's memory was last read."),
    DEVICE_SAMPLE_PROBLEMS(
            Kind.GAUGE,
            "ullage_device_sample_problems",
            Label.DEVICE,
            "How many parts of the last reading could not be read."),
    DEVICE_ORDERS_SENT(
            Kind.COUNTER,
            "ullage_device_orders_sent",
            Label.DEVICE,
            "Limits sent to ranks since the worker started, without repetitions."),
    DEVICE_ORDERS_REPEATED(
            Kind.COUNTER,
            "ullage_device_orders_repeated",
            Label.DEVICE,
            "Limits sent again because no confirmation had come."),
    DEVICE_CONFIRMATIONS(
            Kind.COUNTER, "ullage_device_confirmations", Label.DEVICE, "Limits that ranks have confirmed."),
    DEVICE_REFUSALS(
            Kind.COUNTER, "ullage_device_refusals", Label.DEVICE, "Growth and confirmations that the ledger refused."),
    DEVICE_OVER_COMMITS(
            Kind.COUNTER,
            "ullage_device_over_commits",
            Label.DEVICE,
            "Moments at which an audit found more promised than the budget in force; must stay 0."),
    DEVICE_POOL(
            Kind.GAUGE,
            "ullage_device_pool_bytes",
            Label.DEVICE,
            "Kept for bursts at which jobs take turns, in force; not part of the budget."),
    DEVICE_POOL_OUT(
            Kind.GAUGE, "ullage_device_pool_out_bytes", Label.DEVICE, "What of the pool the turns of now come to."),
    DEVICE_TURNS(Kind.COUNTER, "ullage_device_turns", Label.DEVICE, "Turns that ranks were given."),
    DEVICE_TURN_WAIT(
            Kind.HISTOGRAM,
            "ullage_device_turn_wait_seconds",
            Label.DEVICE,
            "How long ranks waited for a turn: each wait that took time, also one without a turn at its end."),
    DEVICE_TURNS_MISSED(
            Kind.COUNTER,
            "ullage_device_turns_missed",
            Label.DEVICE,
            "Waits that ended at the deadline: the rank went on without a turn."),

    LEDGER_FSYNC(
            Kind.HISTOGRAM,
            "ullage_ledger_fsync_seconds",
            Label.DEVICE,
            "How long the appends to the ledger's file took, each until it would survive a power cut."),
    LEDGER_REFUSALS(
            Kind.COUNTER,
            "ullage_ledger_refusals",
            List.of("node", "device", "rule"),
            "What the ledger refused, by the rule that stood in the way; every rule is there."),

    RANK_INFO(
            Kind.INFO,
            "ullage_rank",
            List.of("node", "device", "job", "rank", "enforced_by"),
            "What holds the rank to its limit; advisory: nothing does."),
    RANK_LIMIT(
            Kind.GAUGE,
            "ullage_rank_limit_bytes",
            Label.RANK_PHASE,
            "The limit that the newest order gives the rank in this phase."),
    RANK_TARGET(
            Kind.GAUGE,
            "ullage_rank_target_bytes",
            Label.RANK,
            "The highest limit of any phase that the newest order gives the rank."),
    RANK_CEILING(
            Kind.GAUGE,
            "ullage_rank_ceiling_bytes",
            Label.RANK,
            "The highest limit that processes of the rank may still believe, summed where there are two."),
    RANK_HELD(
            Kind.GAUGE,
            "ullage_rank_held_bytes",
            Label.RANK,
            "What counts against the limit: what the rank's allocator has taken from the device."),
    RANK_ALLOCATED(Kind.GAUGE, "ullage_rank_allocated_bytes", Label.RANK, "Memory in the rank's tensors."),
    RANK_PEAK(
            Kind.GAUGE,
            "ullage_rank_peak_bytes",
            Label.RANK,
            "The most the rank's allocator has held since its process started."),
    RANK_SHARE(
            Kind.GAUGE,
            "ullage_rank_share_ratio",
            Label.RANK,
            "The part of its fair limit that an operator lets the rank have, 0 to 1."),
    RANK_SETTLED(
            Kind.GAUGE,
            "ullage_rank_settled",
            Label.RANK,
            "1 if the rank has confirmed its newest order and believes nothing above it, else 0."),
    RANK_CONNECTED(Kind.GAUGE, "ullage_rank_connected", Label.RANK, "1 if the rank's client has a connection, else 0."),
    RANK_AGE(Kind.GAUGE, "ullage_rank_age_seconds", Label.RANK, "Time since anything was heard from the rank."),
    RANK_ALLOCATOR_REFUSALS(
            Kind.COUNTER,
            "ullage_rank_allocator_refusals",
            Label.RANK,
            "Requests that the rank's own allocator turned away because of the limit."),
    RANK_PHASE_PEAK(
            Kind.GAUGE,
            "ullage_rank_phase_peak_bytes",
            Label.RANK_PHASE,
            "The most the rank's allocator has held in this phase over its last steps."),
    RANK_ALLOCATIONS(
            Kind.COUNTER, "ullage_rank_allocations", Label.RANK, "Requests that the rank's allocator has served."),
    RANK_FRAGMENTATION(
            Kind.GAUGE,
            "ullage_rank_fragmentation_ratio",
            Label.RANK,
            "Memory in unused pieces of split blocks by what the rank's allocator holds, 0 to 1."),
    RANK_ROUNDING_WASTE(
            Kind.GAUGE,
            "ullage_rank_rounding_waste_ratio",
            Label.RANK,
            "The part of the allocated memory that rounding sizes up has added, 0 to 1."),
    RANK_LEAK(
            Kind.GAUGE,
            "ullage_rank_leak_suspected",
            Label.RANK,
            "1 if what the rank has allocated at the ends of its steps grows without end, 0 if not."),
    RANK_PROCESS_USED(
            Kind.GAUGE,
            "ullage_rank_process_used_bytes",
            Label.RANK,
            "What the driver says the rank's processes use on the device."),
    RANK_OVERHEAD(
            Kind.GAUGE,
            "ullage_rank_overhead_bytes",
            Label.RANK,
            "What the process uses beside its allocator: measured, before that the configured default."),
    RANK_ABOVE_CEILING(
            Kind.GAUGE,
            "ullage_rank_above_ceiling",
            Label.RANK,
            "1 if the rank's processes were measured above its ceiling for some readings in a row, else 0."),

    JOB_SKEW(
            Kind.GAUGE,
            "ullage_job_skew_ratio",
            List.of("job", "phase"),
            "The largest peak of any rank of the job in this phase by the median of its ranks, 1 or more."),
    JOB_UNEVEN(
            Kind.GAUGE,
            "ullage_job_uneven",
            List.of("job"),
            "1 if the largest rank of the job was far above the median for some looks in a row, else 0."),

    DCGM_TOTAL(Kind.GAUGE, "DCGM_FI_DEV_FB_TOTAL", Label.DCGM, "All memory of the device, in MiB."),
    DCGM_FREE(Kind.GAUGE, "DCGM_FI_DEV_FB_FREE", Label.DCGM, "Memory that is not allocated, in MiB."),
    DCGM_USED(Kind.GAUGE, "DCGM_FI_DEV_FB_USED", Label.DCGM, "Memory allocated by processes, in MiB."),
    DCGM_RESERVED(Kind.GAUGE, "DCGM_FI_DEV_FB_RESERVED", Label.DCGM, "Memory the driver keeps for itself, in MiB."),
    DCGM_USED_PERCENT(
            Kind.GAUGE,
            "DCGM_FI_DEV_FB_USED_PERCENT",
            Label.DCGM,
            "Used memory by total less reserved; a ratio from 0 to 1 in spite of its name.");

    /** The types of metrics, and what the format appends to a name. */
    enum Kind {
        GAUGE("gauge", ""),
        COUNTER("counter", "_total"),
        INFO("gauge", "_info"),
        HISTOGRAM("histogram", "");

        final String type;
        final String suffix;

        Kind(String type, String suffix) {
            this.type = type;
            this.suffix = suffix;
        }
    }

    /** Sets of labels that several metrics share. */
    private static final class Label {
        static final List<String> NONE = List.of();
        static final List<String> NODE = List.of("node");
        static final List<String> DEVICE = List.of("node", "device");
        static final List<String> RANK = List.of("node", "device", "job", "rank");
        static final List<String> RANK_PHASE = List.of("node", "device", "job", "rank", "phase");
        static final List<String> DCGM = List.of("gpu", "UUID", "pci_bus_id", "modelName", "hostname");
    }

    private final Kind kind;
    private final String baseName;

    @SuppressWarnings("ImmutableEnumChecker") // each is a List.of(...) above
    private final List<String> labels;

    private final String help;

    Metric(Kind kind, String baseName, List<String> labels, String help) {
        this.kind = kind;
        this.baseName = baseName;
        this.labels = labels;
        this.help = help;
    }

    Kind kind() {
        return kind;
    }

    /** Without what the format appends. */
    String baseName() {
        return baseName;
    }

    /** As it stands on the page; a histogram's series have further endings. */
    String exposedName() {
        return baseName + kind.suffix;
    }

    List<String> labels() {
        return labels;
    }

    String help() {
        return help;
    }
}
