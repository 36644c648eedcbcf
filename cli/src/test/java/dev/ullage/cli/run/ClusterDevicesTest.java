package dev.ullage.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.MemoryBytes;
import org.junit.jupiter.api.Test;

/** What could be promised on a device follows from what its ledger plans with. */
class ClusterDevicesTest {
    private static ObjectNode device() {
        return new ObjectMapper()
                .createObjectNode()
                .put("uuid", "GPU-1")
                .put("kind", "discrete")
                .put("allocatableBytes", 100 * MemoryBytes.GIBIBYTE)
                .put("reserveBasisPoints", 2000)
                .put("ceilingBytes", 10 * MemoryBytes.GIBIBYTE);
    }

    private static MemoryBytes free(ObjectNode device) {
        ObjectNode status = new ObjectMapper().createObjectNode();
        status.putArray("nodes")
                .addObject()
                .put("node", "host-a")
                .putArray("devices")
                .add(device);
        return ClusterDevices.of(status).hosts().get(0).devices().get(0).free().orElseThrow();
    }

    @Test
    void foreignMemoryThatIsNotToldIsNotTakenForNone() {
        ObjectNode untold = device().put("plannedForeignBytes", 30 * MemoryBytes.GIBIBYTE);
        untold.putNull("foreignBytes");

        assertThat(free(untold)).isEqualTo(MemoryBytes.ofGibibytes(40));
    }

    @Test
    void anOlderCoordinatorSaysWhatWasMeasured() {
        assertThat(free(device().put("foreignBytes", 20 * MemoryBytes.GIBIBYTE)))
                .isEqualTo(MemoryBytes.ofGibibytes(50));
    }
}
