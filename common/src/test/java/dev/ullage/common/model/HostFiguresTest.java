package dev.ullage.common.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.model.JobRequest.HostNeed;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class HostFiguresTest {
    @Test
    void coresAreReadAndWrittenInThousandths() {
        assertThat(Cpus.parse("8")).isEqualTo(8_000);
        assertThat(Cpus.parse(" 0.5 ")).isEqualTo(500);
        assertThat(Cpus.parse("100000")).isEqualTo(100_000_000);
        assertThat(Cpus.text(500)).isEqualTo("0.5");
        assertThat(Cpus.text(20_000)).isEqualTo("20");
        for (String wrong : new String[] {"", "x", "0", "-1", "0.0001", "100000.001", "1e999999999", "NaN"}) {
            assertThatThrownBy(() -> Cpus.parse(wrong))
                    .as(wrong)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("must be a number of cores from 0.001 to 100000");
        }
    }

    @Test
    void aHostHasSomethingOrItIsNotKnown() {
        HostCapacity host = new HostCapacity(
                OptionalInt.empty(), Optional.of(MemoryBytes.ofGibibytes(4)), Optional.of(MemoryBytes.ofGibibytes(9)));

        assertThat(host.available()).as("no more than there is").contains(MemoryBytes.ofGibibytes(4));
        assertThat(new HostCapacity(OptionalInt.empty(), Optional.empty(), Optional.of(MemoryBytes.ZERO)).available())
                .as("of nobody knows what")
                .isEmpty();
        assertThatThrownBy(() -> new HostCapacity(OptionalInt.of(0), Optional.empty(), Optional.empty()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new HostCapacity(OptionalInt.empty(), Optional.of(MemoryBytes.ZERO), Optional.empty()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void whatRanksAskTogetherNeverWrapsAround() {
        HostNeed each = new HostNeed(Optional.of(MemoryBytes.of(1L << 61)), OptionalInt.of(1_500));
        HostAmount five = HostAmount.of(each, 5);

        assertThat(HostAmount.of(each, 2).memory().value()).isEqualTo(1L << 62);
        assertThat(five).isEqualTo(new HostAmount(7_500, MemoryBytes.of(Long.MAX_VALUE)));
        assertThat(five.plus(five)).isEqualTo(new HostAmount(15_000, MemoryBytes.of(Long.MAX_VALUE)));
        assertThat(HostAmount.of(HostNeed.NONE, 4_096).isNone()).isTrue();
        assertThat(each.text()).startsWith("1.5 cpus and ").endsWith(" of host memory");
        assertThatThrownBy(() -> new HostNeed(Optional.empty(), OptionalInt.of(0)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
