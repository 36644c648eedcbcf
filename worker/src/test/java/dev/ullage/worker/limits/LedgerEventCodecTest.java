package dev.ullage.worker.limits;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.Grant;
import dev.ullage.common.ledger.LedgerEvent;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is in a ledger file is read for years: these literals may be added to, never changed. */
class LedgerEventCodecTest {
    private final LedgerEventCodec codec = new LedgerEventCodec();

    @Test
    void everyEventIsWrittenUnderItsNamesAndReadBackAsItself() throws IOException {
        for (Map.Entry<LedgerEvent, String> sample : LedgerEvents.samples().entrySet()) {
            byte[] written = codec.encode(List.of(sample.getKey()));

            assertThat(new String(written, UTF_8)).isEqualTo("[" + sample.getValue() + "]");
            assertThat(codec.decode(written)).containsExactly(sample.getKey());
        }
    }

    @Test
    void thereIsASampleOfEveryEvent() {
        assertThat(LedgerEvents.samples().keySet())
                .map(event -> (Object) event.getClass())
                .containsExactlyInAnyOrderElementsOf(
                        Arrays.asList((Object[]) LedgerEvent.class.getPermittedSubclasses()));
    }

    @Test
    void aFieldOfALaterVersionIsIgnored() throws IOException {
        String json = "[{\"event\":\"token-seen\",\"token\":{\"epoch\":3,\"uid\":\"c3\",\"colour\":1},\"why\":[{}]}]";

        assertThat(codec.decode(json.getBytes(UTF_8)))
                .containsExactly(new LedgerEvent.TokenSeen(dev.ullage.common.testing.Fixtures.token(3)));
    }

    @Test
    void anOptionalFieldThatIsMissingReadsAsEmpty() throws IOException {
        String json = new String(codec.encode(List.of(LedgerEvents.snapshot())), UTF_8)
                .replaceFirst("\"highestToken\":\\{[^}]*},", "")
                .replaceFirst("\"target\":\\{.*?}},", "");

        LedgerEvent.Snapshot read =
                (LedgerEvent.Snapshot) codec.decode(json.getBytes(UTF_8)).get(0);

        assertThat(read.highestToken()).isEmpty();
        assertThat(read.grants()).extracting(Grant::target).allMatch(target -> target.isEmpty());
    }

    @Test
    void termsOfBeforeThereWereTurnsHaveNoPool() throws IOException {
        String json = new String(codec.encode(List.of(LedgerEvents.snapshot())), UTF_8).replace(",\"pool\":null", "");

        assertThat(json).doesNotContain("pool");
        assertThat(codec.decode(json.getBytes(UTF_8))).containsExactly(LedgerEvents.snapshot());
    }

    @Test
    void aReservationOfBeforeHostsWereCountedAsksNothingOfThem() throws IOException {
        String json = new String(codec.encode(List.of(LedgerEvents.snapshot())), UTF_8)
                .replaceFirst(",\"host\":\\{.*?}.*?}", "");

        assertThat(json).doesNotContain("host");
        LedgerEvent.Snapshot read =
                (LedgerEvent.Snapshot) codec.decode(json.getBytes(UTF_8)).get(0);
        assertThat(read.reservations().orElseThrow())
                .singleElement()
                .satisfies(held -> assertThat(held.reservation().host()).isEmpty());
    }

    @Test
    void aSnapshotOfBeforeThereWereReservationsHasNone() throws IOException {
        LedgerEvent.Snapshot now = LedgerEvents.snapshot();
        String json = new String(codec.encode(List.of(now)), UTF_8).replaceFirst(",\"reservations\":.*}]}]", "}]");

        assertThat(json).doesNotContain("reservations").endsWith("}]");
        LedgerEvent.Snapshot read =
                (LedgerEvent.Snapshot) codec.decode(json.getBytes(UTF_8)).get(0);
        assertThat(read)
                .isEqualTo(new LedgerEvent.Snapshot(
                        now.device(), now.highestToken(), now.wanted(), now.inForce(), now.grants()));
        assertThat(DeviceLedger.open(read).reservations()).isEmpty();
    }

    @Test
    void anythingElseThatIsMissingIsRefused() {
        for (String json : List.of(
                "[{\"event\":\"rank-joined\"}]",
                "[{\"event\":\"rank-joined\",\"instance\":null}]",
                "[{\"event\":\"token-seen\",\"token\":{\"uid\":\"c3\"}}]",
                "[{\"event\":\"opened\",\"device\":{\"value\":\"GPU-a\"},\"terms\":{\"allocatable\":{\"value\":1}}}]",
                "[{\"event\":\"unheard-of\"}]",
                "[{}]",
                "[null]",
                "{}",
                "null")) {
            assertThatThrownBy(() -> codec.decode(json.getBytes(UTF_8)))
                    .as(json)
                    .isInstanceOf(JsonProcessingException.class);
        }
    }
}
