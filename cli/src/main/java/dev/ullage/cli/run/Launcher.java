package dev.ullage.cli.run;

/** What starts the ranks. */
enum Launcher {
    TORCHRUN("torchrun"),
    MPIRUN("mpirun"),
    SRUN("srun"),
    HOROVODRUN("horovodrun"),
    DEEPSPEED("deepspeed"),
    /** Python by itself: one rank. */
    PLAIN("python"),
    /** A program that is no launcher known here: nobody knows where its ranks' command is. */
    UNKNOWN("unknown");

    private final String label;

    Launcher(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }
}
