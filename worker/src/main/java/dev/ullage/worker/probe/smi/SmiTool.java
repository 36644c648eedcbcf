package dev.ullage.worker.probe.smi;

import java.util.List;
import java.util.Optional;

/** The tool, or something that stands in for it. */
interface SmiTool {
    /** Blocks for as long as its deadline allows. */
    Answer run(List<String> arguments);

    /**
     * @param output what it printed, whatever it ended with
     * @param failure why there is no output; empty text when there is
     */
    record Answer(Optional<String> output, String failure) {
        static Answer of(String output) {
            return new Answer(Optional.of(output), "");
        }

        static Answer failed(String why) {
            return new Answer(Optional.empty(), why);
        }
    }
}
