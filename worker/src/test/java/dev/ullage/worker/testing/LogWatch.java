package dev.ullage.worker.testing;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/** Fails a test in whose time an ERROR is logged, unless the test {@linkplain #expectError is about it}. */
public final class LogWatch implements BeforeEachCallback, AfterEachCallback {
    private final List<String> errors = new CopyOnWriteArrayList<>();
    private final List<String> warnings = new CopyOnWriteArrayList<>();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            if (event.getLevel().isGreaterOrEqual(Level.ERROR)) {
                errors.add(event.getLoggerName() + " " + event.getFormattedMessage());
            } else if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
                warnings.add(event.getFormattedMessage());
            }
        }
    };
    private Optional<String> expected = Optional.empty();

    /** All errors with this text in them are wanted, and there must be one. */
    public void expectError(String text) {
        expected = Optional.of(text);
    }

    /** What was warned of since the test began. */
    public List<String> warnings() {
        return warnings;
    }

    private static Logger root() {
        return (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        errors.clear();
        warnings.clear();
        expected = Optional.empty();
        appender.start();
        root().addAppender(appender);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        root().detachAppender(appender);
        assertThat(errors).allMatch(error -> expected.filter(error::contains).isPresent(), "expected: " + expected);
        if (expected.isPresent()) {
            assertThat(errors).as("an error with %s", expected).isNotEmpty();
        }
    }
}
