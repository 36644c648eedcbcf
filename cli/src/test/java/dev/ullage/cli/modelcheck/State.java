package dev.ullage.cli.modelcheck;

import java.util.List;
import java.util.Optional;

/** One state of a world that is searched through. */
interface State {
    /** Two states with the same text have the same future. */
    String encoded();

    /** The promise that it breaks. */
    Optional<String> broken();

    /** Whether everything that was wanted last is in force. */
    boolean isAtRest();

    /** All that can happen next. */
    List<? extends State> next();
}
