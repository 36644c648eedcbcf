package dev.ullage.coordinator.planning.balance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class SharingRuleTest {

    private static boolean isSafe(int persistentMilli, List<Integer> shares) {
        long stays = shares.stream()
                .mapToLong(share -> (long) share * persistentMilli)
                .sum();
        long passes = shares.stream()
                .mapToLong(share -> (long) share * (1000 - persistentMilli))
                .max()
                .orElse(0);
        return stays + passes <= 1_000_000;
    }

    // What is left is exactly the largest share for which what stays and the largest of what passes fit together.
    @Property
    void inTurnsLeavesTheLargestShareThatIsSafe(
            @ForAll @IntRange(min = 1, max = 1000) int persistentMilli,
            @ForAll @Size(max = 6) List<@IntRange(min = 1, max = 1000) Integer> wanted) {
        SharingRule rule = new SharingRule.InTurns(persistentMilli);
        List<Integer> shares = new ArrayList<>();
        for (int share : wanted) {
            int left = rule.left(1000, shares);
            assertThat(isSafe(persistentMilli, with(shares, left))).isTrue();
            assertThat(isSafe(persistentMilli, with(shares, left + 1))).isFalse();
            if (share <= left) {
                shares.add(share);
            }
        }
    }

    private static List<Integer> with(List<Integer> shares, int one) {
        List<Integer> all = new ArrayList<>(shares);
        all.add(one);
        return all;
    }

    @Test
    void aWholeDeviceIsNeverShared() {
        assertThat(new SharingRule.InTurns(282).left(1000, List.of(1000))).isZero();
        assertThat(new SharingRule.InTurns(282).left(1000, List.of())).isEqualTo(1000);
    }

    @Test
    void besideEachOtherSharesAddUp() {
        assertThat(new SharingRule.Beside().left(1000, List.of(300, 300))).isEqualTo(400);
    }

    @Test
    void whereNothingPassesTurnsGainNothing() {
        assertThat(new SharingRule.InTurns(1000).left(1000, List.of(300, 300))).isEqualTo(400);
    }
}
