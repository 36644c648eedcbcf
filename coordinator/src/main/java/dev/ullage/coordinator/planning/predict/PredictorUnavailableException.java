package dev.ullage.coordinator.planning.predict;

/** A predictor exists, but not here; the message says what is missing. */
public final class PredictorUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    public PredictorUnavailableException(String message) {
        super(message);
    }

    public PredictorUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
