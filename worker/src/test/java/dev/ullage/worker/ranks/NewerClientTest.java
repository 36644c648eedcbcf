package dev.ullage.worker.ranks;

import static dev.ullage.common.testing.Fixtures.rank;
import static dev.ullage.worker.ranks.RankHarness.order;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.worker.limits.LimitKeeper;
import dev.ullage.worker.testing.LogWatch;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * A training that brings a newer client along than its host's worker: what this worker does not know is passed over,
 * said once, and never ends the connection. A client that is disconnected says the same again, for ever.
 */
class NewerClientTest {
    @RegisterExtension
    final LogWatch log = new LogWatch();

    private final RankHarness worker = new RankHarness(RankHarness.MAX_RANKS);
    private RankServer server;

    @BeforeEach
    void openTheSocket(@TempDir Path folder) throws IOException {
        server = worker.open(folder.resolve("ranks.sock"));
        worker.processes.run(103, 7L * 103);
    }

    @AfterEach
    void closeEverything() throws IOException {
        server.close();
        worker.close();
    }

    private RankClient hello(String more) throws IOException {
        RankClient client = worker.connect(server);
        client.say(RankClient.hello(3, 103, more));
        return client;
    }

    @Test
    void whatAHelloSaysBesideIsPassedOver() throws IOException {
        RankClient client = hello(
                ",\"addedLater\":{\"a\":[1]},\"canEnforce\":[\"added-later\",\"torch\"],\"policy\":\"added-later\"");

        assertThat(client.hear().path("type").textValue()).isEqualTo("welcome");
        assertThat(worker.joined().policy()).hasValue("added-later");
    }

    @Test
    void aLineOfATypeThatIsNotKnownIsSaidOnceAndEndsNothing() throws IOException {
        RankClient client = hello("");
        client.hear();
        client.say("{\"type\":\"added-later\",\"bytes\":1}");
        client.say("{\"type\":\"added-later\"}");
        client.say("{\"type\":\"another\"}");
        client.say("{\"type\":\"usage\",\"reservedBytes\":9,\"addedLater\":[]}");

        worker.sample(rank(3), sample -> sample.use().reserved().isPresent());
        assertThat(client.hearsNothing()).isTrue();
        assertThat(log.warnings())
                .filteredOn(warning -> warning.contains("of a newer version"))
                .containsExactly("session=job/3@103:721 ignored=\"type added-later\" reason=\"not known to this"
                        + " worker: the client is of a newer version\"");
    }

    @Test
    void aConfirmationByAMeansThatIsNotKnownCountsAndClaimsNothing() throws IOException {
        RankClient client = hello("");
        client.hear();
        worker.joined().listener().tell(order(rank(3), 1));
        client.hear();
        client.say("{\"type\":\"confirm\",\"sequence\":1,\"limitBytes\":7,\"enforcedBy\":\"added-later\"}");

        worker.keeper.expectMessage(new LimitKeeper.Confirmed(rank(3), 1, MemoryBytes.of(7)));
        worker.sample(rank(3), sample -> sample.enforcedBy() == EnforcedBy.ADVISORY);
        assertThat(client.hearsNothing()).isTrue();
    }

    @Test
    void aCallForAPhaseThatIsNotKnownIsAnsweredAndThePhaseBeforeStays() throws IOException {
        RankClient client = hello("");
        RankClient call = worker.connect(server);
        call.attach(client.hear());
        call.hear();
        call.say("{\"type\":\"phase\",\"phase\":\"FORWARD\",\"step\":4}");
        call.say("{\"type\":\"phase\",\"phase\":\"ADDED_LATER\",\"step\":4}");
        call.say("{\"type\":\"phase\",\"phase\":\"ADDED_LATER\",\"step\":4,\"id\":1}");
        call.say("{\"type\":\"added-later\"}");

        assertThat(call.hear().toString())
                .isEqualTo("{\"type\":\"entered\",\"id\":1,\"sequence\":0,\"limitBytes\":null}");
        worker.sample(rank(3), sample -> sample.activity().phase() == Phase.FORWARD);
        call.say("{\"type\":\"phase\",\"phase\":\"BACKWARD\",\"step\":4,\"id\":2}");
        JsonNode entered = call.hear();
        assertThat(entered.path("id").intValue()).isEqualTo(2);
        assertThat(log.warnings())
                .filteredOn(warning -> warning.contains("of a newer version"))
                .hasSize(1);
    }

    @Test
    void outOfMemoryInAPhaseThatIsNotKnownEndsNoConnection() throws IOException {
        RankClient client = hello("");
        client.hear();
        client.say("{\"type\":\"oom\",\"sequence\":0,\"step\":1,\"phase\":\"ADDED_LATER\",\"retry\":true}");
        client.say("{\"type\":\"usage\",\"reservedBytes\":9}");

        worker.sample(rank(3), sample -> sample.use().reserved().isPresent());
        assertThat(client.hearsNothing()).isTrue();
    }

    @Test
    void whatAStrangerSaysFirstIsStillRefused() throws IOException {
        RankClient client = worker.connect(server);
        client.say("{\"type\":\"added\\u0007later\"}");

        client.expectError("BAD_MESSAGE", "the first line must be hello or attach");
    }
}
