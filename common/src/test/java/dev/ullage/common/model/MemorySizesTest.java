package dev.ullage.common.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MemorySizesTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1073741824, 1073741824",
        "17B, 17",
        "10G, 10737418240",
        "10GiB, 10737418240",
        "10gib, 10737418240",
        "10 GiB, 10737418240",
        "1024m, 1073741824",
        "1024MiB, 1073741824",
        "512K, 524288",
        "1T, 1099511627776",
        "10GB, 10000000000",
        "500MB, 500000000",
        "1.5G, 1610612736",
        "0.3G, 322122547",
        "9223372036854775807, 9223372036854775807",
    })
    void sizesAreReadToTheByteAndNeverRoundedUp(String text, long bytes) {
        assertThat(MemorySizes.parse(text).value()).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "NaN",
                "Infinity",
                "-1",
                "-1G",
                "+1G",
                "1e9",
                "10X",
                "10GiBB",
                "G",
                "0.8",
                "1.G",
                ".5G",
                "1,5G",
                "10 G 5",
                "80%",
                "9223372036854775808",
                "8388608T",
                "0x10",
                "１０G"
            })
    void anythingElseIsRefusedWithTheValueAndTheAcceptedForms(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MemorySizes.parse(text))
                .withMessageContaining("size '" + text + "'")
                .withMessageContaining("accepted: " + MemorySizes.ACCEPTED_FORMS);
    }

    @Test
    void theRefusalSaysWhichRuleIsBroken() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MemorySizes.parse("10Q"))
                .withMessageStartingWith("size '10Q' has the unknown unit 'Q'; accepted: ");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MemorySizes.parse("0.8"))
                .withMessageStartingWith("size '0.8' is a fraction without a unit; ");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MemorySizes.parse("9000000T"))
                .withMessageStartingWith("size '9000000T' is more than 9223372036854775807 bytes; ");
    }

    @Test
    void aLongOrHostileValueIsCutInTheMessage() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MemorySizes.parse("\u001b[31m" + "x".repeat(10_000)))
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(500).doesNotContain("\u001b"));
    }

    @Property
    void everyAmountOfBytesReadsBackAsItself(@ForAll @LongRange(min = 0) long bytes) {
        assertThat(MemorySizes.parse(Long.toString(bytes))).isEqualTo(new MemoryBytes(bytes));
        assertThat(MemorySizes.parse(bytes + "B")).isEqualTo(new MemoryBytes(bytes));
    }

    @Property
    void aFractionLiesWithinOneByteBelowTheExactAmount(
            @ForAll @IntRange(min = 0, max = 100_000) int whole,
            @ForAll @IntRange(min = 0, max = 999) int thousandths) {
        long bytes = MemorySizes.parse("%d.%03dG".formatted(whole, thousandths)).value();
        long exactTimesThousand = (whole * 1_000L + thousandths) * MemoryBytes.GIBIBYTE;
        assertThat(exactTimesThousand - bytes * 1_000L).isBetween(0L, 999L);
    }

    @Property
    void nothingButAnIllegalArgumentIsEverThrown(@ForAll String text) {
        try {
            assertThat(MemorySizes.parse(text).value()).isNotNegative();
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("accepted: ");
        }
    }
}
