package dev.ullage.common.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventIdTest {
    @Test
    void readsWhatItWrites() {
        EventId id = new EventId(3, 17);

        assertThat(EventId.parse(id.toString())).isEqualTo(id).hasToString("3.17");
    }

    @Test
    void theEpochCountsBeforeTheSequence() {
        assertThat(new EventId(2, 1)).isGreaterThan(new EventId(1, 99));
        assertThat(new EventId(2, 10)).isGreaterThan(new EventId(2, 9));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "3", "3.", ".17", "3.0", "-1.2", "3.17.1", "3.1234567890123456789", "a.b", "3.17\n"})
    void anythingElseIsNone(String text) {
        assertThatThrownBy(() -> EventId.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }
}
