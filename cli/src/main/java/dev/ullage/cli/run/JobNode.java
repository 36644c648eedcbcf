package dev.ullage.cli.run;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A value of a job file, whatever its syntax, and where it stands. */
sealed interface JobNode {
    /** File, line and, where its parser tells it, column; for people. */
    String place();

    /**
     * A text, number or boolean, or none.
     *
     * @param text as it was written
     * @param value a String, Integer, Long, Double or Boolean; null: it says that there is none
     */
    record Scalar(String place, String text, @Nullable Object value) implements JobNode {}

    /** A list. */
    record Items(String place, List<JobNode> items) implements JobNode {
        public Items {
            items = List.copyOf(items);
        }
    }

    /** @param entries by the names in the file, in its order */
    record Section(String place, Map<String, Entry> entries) implements JobNode {
        public Section {
            entries = Collections.unmodifiableMap(new LinkedHashMap<>(entries));
        }
    }

    /** @param place of the name */
    record Entry(String place, JobNode node) {}

    /**
     * What was read.
     *
     * @param problems of the file itself that do not keep the rest from being read, each with its place
     */
    record Document(Section root, List<String> problems) {
        public Document {
            problems = List.copyOf(problems);
        }
    }
}
