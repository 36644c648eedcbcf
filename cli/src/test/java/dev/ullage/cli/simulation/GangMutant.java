package dev.ullage.cli.simulation;

/** The protocol of reservations with one rule switched off; {@link #NONE}: as it is. */
enum GangMutant {
    NONE("as it is"),
    COMMIT_BEFORE_ALL_ARE_RESERVED("commit before all are reserved"),
    TOLD_BEFORE_ALL_ARE_COMMITTED("told before all are committed"),
    NO_EXPIRY("no expiry"),
    COMMITTED_EXPIRES("a committed part expires"),
    RECOVERY_KEEPS_PARTS("recovery keeps parts"),
    RELEASE_NOT_RETRIED("release not retried"),
    NO_LEASE("a submitter that is gone is not noticed"),
    RUNNING_NOT_SAID("a job does not say that it runs");

    private final String title;

    GangMutant(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }
}
