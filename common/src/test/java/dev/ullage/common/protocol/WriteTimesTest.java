package dev.ullage.common.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class WriteTimesTest {
    private static final WriteTimes EMPTY =
            new WriteTimes(List.of(new WriteTimes.Length(100, 0), new WriteTimes.Length(300, 0)), 0, 0);

    @Test
    void aWriteCountsWithThoseOfItsLengthOnly() {
        WriteTimes times =
                EMPTY.withOne(0).withOne(100).withOne(101).withOne(300).withOne(301);

        assertThat(times)
                .isEqualTo(
                        new WriteTimes(List.of(new WriteTimes.Length(100, 2), new WriteTimes.Length(300, 2)), 1, 802));
    }

    @Test
    void whatACoordinatorShowsAsBucketsIsInAscendingOrder() {
        assertThat(WriteTimes.NONE.upTo())
                .extracting(WriteTimes.Length::micros)
                .isSorted()
                .doesNotHaveDuplicates()
                .startsWith(100L)
                .endsWith(1_000_000L);
    }
}
