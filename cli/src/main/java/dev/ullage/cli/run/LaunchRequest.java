package dev.ullage.cli.run;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a command line asks of its launcher. Pure.
 *
 * @param command as it was given
 * @param start how it comes to the command of a rank
 * @param size how many ranks, as far as it says
 * @param slots device numbers it names for this host ({@code deepspeed --include})
 * @param problems what contradicts itself or cannot be read; the launcher would not start, or start something else
 */
record LaunchRequest(
        Launcher launcher,
        List<String> command,
        Start start,
        Size size,
        Optional<List<Integer>> slots,
        List<String> problems) {
    /** Why the client is not put in front of the ranks when somebody says that it is there. */
    static final String NO_WRAP = "--no-wrap";

    /** Of a command line without one: what else is wrong with the job can be said all the same. */
    static final LaunchRequest WITHOUT_COMMAND = new LaunchRequest(
            Launcher.UNKNOWN,
            List.of(),
            new Start(0, Form.PROGRAM, Optional.empty()),
            Size.UNKNOWN,
            Optional.empty(),
            List.of("the command that starts the job is missing"));

    LaunchRequest {
        command = List.copyOf(command);
        problems = List.copyOf(problems);
    }

    /**
     * @param at where in the command line that of each rank begins
     * @param form what its words are
     * @param reasonNotToWrap why the client cannot be put in front of it, if so
     */
    record Start(int at, Form form, Optional<String> reasonNotToWrap) {}

    /** How the words behind the options become a rank's command. */
    enum Form {
        /** They are it. */
        PROGRAM,
        /** A Python script and its arguments. */
        SCRIPT,
        /** A Python module and its arguments. */
        MODULE
    }

    /**
     * @param ranks in all
     * @param perHost on the host that has the most of them
     * @param hosts how many hosts
     * @param isOnePerDevice as many on each host as it has visible devices
     */
    record Size(OptionalInt ranks, OptionalInt perHost, OptionalInt hosts, boolean isOnePerDevice) {
        static final Size UNKNOWN = new Size(OptionalInt.empty(), OptionalInt.empty(), OptionalInt.empty(), false);

        static Size ofOneHost(int ranks) {
            return new Size(OptionalInt.of(ranks), OptionalInt.of(ranks), OptionalInt.of(1), false);
        }

        static Size onePerDevice(OptionalInt hosts) {
            return new Size(OptionalInt.empty(), OptionalInt.empty(), hosts, true);
        }

        /** Whether all ranks run on this host, for certain. */
        boolean isOneHost() {
            return hosts.isPresent() && hosts.getAsInt() == 1;
        }
    }

    Form form() {
        return start.form();
    }

    Optional<String> reasonNotToWrap() {
        return start.reasonNotToWrap();
    }

    /** The same, but the client is not to be put in front of the ranks. */
    LaunchRequest left(String reason) {
        Start left = new Start(start.at(), start.form(), Optional.of(reason));
        return new LaunchRequest(launcher, command, left, size, slots, problems);
    }

    List<String> rankCommand() {
        return command.subList(Math.min(start.at(), command.size()), command.size());
    }

    /** The launcher with its options. */
    List<String> launcherCommand() {
        int end = Math.min(start.at(), command.size());
        boolean endsWithMark = end > 0 && command.get(end - 1).equals("--");
        return command.subList(0, endsWithMark ? end - 1 : end);
    }

    /** Whether the client is there already. */
    boolean isWrapped() {
        List<String> words = rankCommand();
        for (int i = 0; i + 1 < words.size(); i++) {
            if (words.get(i).equals("ullage") && words.get(i + 1).equals("exec")) {
                return true;
            }
        }
        return false;
    }
}
