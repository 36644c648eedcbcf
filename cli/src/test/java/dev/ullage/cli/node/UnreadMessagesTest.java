package dev.ullage.cli.node;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.NotSerializableException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With the settings of a running node: {@code logback.xml} of the distribution. */
class UnreadMessagesTest {
    private static final String FAILED = "Failed to deserialize message from [pekko://ullage@127.0.0.1:26002] with"
            + " serializer id [33] and manifest [dev.ullage.common.protocol.ToCoordinator$%s].";

    private final LoggerContext context = new LoggerContext();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void configure() throws Exception {
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(UnreadMessages.class.getResource("/logback.xml"));
        Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
        root.detachAndStopAllAppenders();
        log.start();
        root.addAppender(log);
    }

    private void fail(String message, Exception cause) {
        context.getLogger("org.apache.pekko.remote.artery.Deserializer").error(FAILED.formatted(message), cause);
    }

    @Test
    void aMessageThatIsNotKnownIsOneWarningHoweverOftenItComes() {
        for (int i = 0; i < 5; i++) {
            fail("AddedLater", new NotSerializableException("Cannot find manifest class [AddedLater]"));
        }
        fail("AddedEvenLater", new NotSerializableException("Cannot find manifest class [AddedEvenLater]"));

        assertThat(log.list).hasSize(2).allMatch(event -> event.getLevel() == Level.WARN);
        assertThat(log.list.get(0).getFormattedMessage())
                .isEqualTo("message=dev.ullage.common.protocol.ToCoordinator$AddedLater"
                        + " from=pekko://ullage@127.0.0.1:26002 reason=\"dropped, and not said again: this version"
                        + " cannot read it; where that node has a newer version, that is why: Cannot find manifest"
                        + " class [AddedLater]\"");
        assertThat(log.list.get(0).getThrowableProxy()).isNull();
    }

    @Test
    void allElseIsLoggedAsItIs() {
        context.getLogger("org.apache.pekko.remote.artery.Deserializer").error("something else", new Exception("x"));
        context.getLogger(UnreadMessagesTest.class).error(FAILED.formatted("A"), new Exception("x"));

        assertThat(log.list).hasSize(2).allMatch(event -> event.getLevel() == Level.ERROR);
    }
}
