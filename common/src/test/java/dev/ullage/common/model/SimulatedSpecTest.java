package dev.ullage.common.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ullage.common.model.SimulatedSpec.Device;
import dev.ullage.common.model.SimulatedSpec.InvalidSpecException;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class SimulatedSpecTest {
    @Test
    void itemsGiveDevicesInTheirOrder() {
        assertThat(SimulatedSpec.parse("2xH100-80G, 1xA100-40GiB").devices())
                .containsExactly(gib("H100", 80), gib("H100", 80), gib("A100", 40));
    }

    @Test
    void countAndNameMayBeLeftOut() {
        assertThat(SimulatedSpec.parse("40G").devices()).containsExactly(gib("SIM", 40));
        assertThat(SimulatedSpec.parse("2x40G").devices()).containsExactly(gib("SIM", 40), gib("SIM", 40));
        assertThat(SimulatedSpec.parse("RTX-4090.b-24G").devices()).containsExactly(gib("RTX-4090.b", 24));
    }

    @Test
    void sizesAreExact() {
        assertThat(SimulatedSpec.parse("1xSIM-512M").devices())
                .containsExactly(new Device("SIM", MemoryBytes.ofMebibytes(512)));
        assertThat(SimulatedSpec.parse("A-80GB,B-1T,C-81559MiB").devices())
                .containsExactly(
                        new Device("A", MemoryBytes.of(80_000_000_000L)),
                        new Device("B", MemoryBytes.ofGibibytes(1024)),
                        new Device("C", MemoryBytes.ofMebibytes(81559)));
    }

    @Test
    void countsGoFromOneTo1024InAll() {
        assertThat(SimulatedSpec.parse("1024x1G").devices()).hasSize(1024);
        assertThat(problems("0x1G")).containsExactly("item 1 at character 1 '0x1G': count 0 must be 1 to 1024");
        assertThat(problems("99999999999999999999x1G"))
                .containsExactly("item 1 at character 1 '99999999999999999999x1G':"
                        + " count 99999999999999999999 must be 1 to 1024");
        assertThat(problems("1000x1G,25xH100-1G")).containsExactly("1025 devices in all, at most 1024 are allowed");
    }

    @Test
    void allProblemsAreReportedAtOnceEachWithItsPlaceAndRule() {
        List<String> problems = problems("8xH100-80G,2000xA_100-0,,3xB-12Q");
        assertThat(problems).hasSize(5);
        assertThat(problems.get(0)).isEqualTo("item 2 at character 12 '2000xA_100-0': count 2000 must be 1 to 1024");
        assertThat(problems.get(1))
                .isEqualTo("item 2 at character 12 '2000xA_100-0': name 'A_100' must be 1 to 64 letters, digits, dashes"
                        + " and dots");
        assertThat(problems.get(2)).isEqualTo("item 2 at character 12 '2000xA_100-0': size must be more than 0");
        assertThat(problems.get(3))
                .isEqualTo("item 3 at character 25 '': is empty; write [COUNTx][NAME-]SIZE, as in 8xH100-80G");
        assertThat(problems.get(4))
                .startsWith("item 4 at character 26 '3xB-12Q': size '12Q' has the unknown unit 'Q'; accepted: ");
    }

    @Test
    void nothingIsNotASpec() {
        assertThat(problems("")).hasSize(1);
        assertThat(problems("x")).hasSize(1);
        assertThat(problems("-5G")).hasSize(1);
    }

    @Test
    void aFloodOfProblemsIsCut() {
        assertThat(problems(String.join(",", Collections.nCopies(5000, "?")))).hasSize(20);
    }

    private static List<String> problems(String spec) {
        return catchThrowableOfType(InvalidSpecException.class, () -> SimulatedSpec.parse(spec))
                .problems();
    }

    private static Device gib(String name, long gibibytes) {
        return new Device(name, MemoryBytes.ofGibibytes(gibibytes));
    }
}
