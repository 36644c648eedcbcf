package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class SnapshotsTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    private static ObjectNode status() {
        return StatusJson.of(Statuses.active(Statuses.deviceWithARank()), NOW);
    }

    private static Snapshots snapshots(ObjectNode status) {
        return Snapshots.of(status, QueueJson.Part.UNKNOWN);
    }

    private static ObjectNode device(ObjectNode status) {
        return (ObjectNode) status.at("/nodes/0/devices/0");
    }

    @Test
    void theFirstHasEverythingTheStatusHasOfADevice() {
        JsonNode device = device(status());

        ObjectNode full = snapshots(status()).full();

        assertThat(full.path("full").asBoolean()).isTrue();
        assertThat(full.path("coordinator").path("epoch").asInt()).isEqualTo(3);
        assertThat(full.at("/nodes/0").toString())
                .isEqualTo("{\"node\":\"host-b\",\"ageMillis\":120,\"draining\":null}");
        ObjectNode shown = (ObjectNode) full.at("/devices/0");
        assertThat(shown.remove("node").asText()).isEqualTo("host-b");
        assertThat(shown).isEqualTo(device);
    }

    @Test
    void aDeviceThatOnlyGrewOlderIsNamedWithItsAge() {
        ObjectNode older = status();
        device(older).put("sampleAgeMillis", 1_300);
        ((ObjectNode) device(older).at("/ranks/0")).put("ageMillis", 750);

        ObjectNode changes = snapshots(older).since(snapshots(status()));

        assertThat(changes.path("full").asBoolean()).isFalse();
        assertThat(changes.path("devices")).isEmpty();
        assertThat(changes.path("ages").toString()).isEqualTo("{\"GPU-1\":1300}");
    }

    @Test
    void aDeviceThatChangedIsThereInFull() {
        ObjectNode changed = status();
        ((ObjectNode) device(changed).at("/ranks/0")).put("usedBytes", 1);

        ObjectNode changes = snapshots(changed).since(snapshots(status()));

        assertThat(changes.at("/devices/0/ranks/0/usedBytes").asInt()).isEqualTo(1);
        assertThat(changes.at("/devices/0/ranks/0/ageMillis").asInt()).isEqualTo(250);
        assertThat(changes.path("ages")).isEmpty();
    }

    private static ObjectNode withAvailable(long gibibytes) {
        ObjectNode status = status();
        ((ObjectNode) status.at("/nodes/0/host")).put("availableBytes", gibibytes << 30);
        return status;
    }

    // Of 512 GiB a step is 4 GiB: available memory is never quite the same, and no reader needs each byte of it.
    @Test
    void whatAHostHasIsSaidAtFirstAndWhereItChangedByAStep() {
        Snapshots before = snapshots(withAvailable(400));

        assertThat(before.full().at("/hosts/host-b/cpuMilli").asInt()).isEqualTo(64_000);
        assertThat(snapshots(withAvailable(403)).since(before).path("hosts")).isEmpty();
        assertThat(snapshots(withAvailable(404))
                        .since(before)
                        .at("/hosts/host-b/availableBytes")
                        .asLong())
                .isEqualTo(404L << 30);
    }

    @Test
    void aHostThatNoLongerSaysWhatItHasIsNull() {
        ObjectNode silent = status();
        ((ObjectNode) silent.at("/nodes/0")).putNull("host");

        ObjectNode changes = snapshots(silent).since(snapshots(status()));

        assertThat(changes.path("hosts").toString()).isEqualTo("{\"host-b\":null}");
        assertThat(snapshots(silent).since(snapshots(silent)).path("hosts")).isEmpty();
    }

    @Test
    void newDevicesAreThereAndLostOnesNamed() {
        Snapshots none = snapshots(StatusJson.of(Statuses.active(), NOW));

        assertThat(snapshots(status()).since(none).path("devices")).hasSize(1);
        assertThat(none.since(snapshots(status())).path("gone").toString()).isEqualTo("[\"GPU-1\"]");
    }

    @Test
    void whatIsAddedToTheStatusIsPassedOn() {
        ObjectNode status = status();
        status.putArray("jobs").addObject().put("job", "bert").put("oomMoves", 2);

        assertThat(snapshots(status).full().at("/jobs/0/oomMoves").asInt()).isEqualTo(2);
    }
}
