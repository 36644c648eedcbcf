package dev.ullage.common.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.math.BigDecimal;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SharesTest {
    @ParameterizedTest
    @CsvSource({
        "20%, 2000",
        "12.5%, 1250",
        "0.01%, 1",
        "100%, 10000",
        "0%, 0",
        "0.2, 2000",
        ".2, 2000",
        "0.20000, 2000",
        "1, 10000",
        "1.0, 10000",
        "0, 0",
        "2000bp, 2000",
        "1 bp, 1",
    })
    void sharesAreReadToTheBasisPoint(String text, int basisPoints) {
        assertThat(Shares.parse(text)).isEqualTo(new Share(basisPoints));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "NaN",
                "-0.2",
                "-20%",
                "+20%",
                "20",
                "101%",
                "100.01%",
                "1.01",
                "10001bp",
                "%",
                "bp",
                "20%%",
                "0.2x",
                "1e-1",
                "0.00001",
                "0.005%",
                "0.5bp",
                "20 percent",
                "1."
            })
    void anythingElseIsRefusedWithTheValueAndTheAcceptedForms(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Shares.parse(text))
                .withMessageContaining("share '" + text + "'")
                .withMessageContaining("accepted: " + Shares.ACCEPTED_FORMS);
    }

    @Test
    void theRefusalSaysWhichRuleIsBroken() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Shares.parse("20"))
                .withMessageStartingWith("share '20' is more than 100%; accepted: 0% to 100% (20%");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Shares.parse("0.12345"))
                .withMessageStartingWith("share '0.12345' is finer than one basis point (0.01%); ");
    }

    @Property
    void everyShareReadsBackFromEachOfItsForms(@ForAll @IntRange(min = 0, max = 10_000) int basisPoints) {
        Share share = new Share(basisPoints);
        assertThat(Shares.parse(share.toString())).isEqualTo(share);
        assertThat(Shares.parse(basisPoints + "bp")).isEqualTo(share);
        assertThat(Shares.parse(BigDecimal.valueOf(basisPoints, 4).toPlainString()))
                .isEqualTo(share);
    }

    @Property
    void nothingButAnIllegalArgumentIsEverThrown(@ForAll String text) {
        try {
            assertThat(Shares.parse(text).basisPoints()).isBetween(0, Share.ONE_IN_BASIS_POINTS);
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("accepted: ");
        }
    }
}
