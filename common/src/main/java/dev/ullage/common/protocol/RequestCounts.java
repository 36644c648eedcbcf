package dev.ullage.common.protocol;

import java.util.Collection;

/** How many requests there are in each state, without those that were cancelled. */
public record RequestCounts(int waiting, int placing, int placed, int requeued, int lost) {

    /** Of a list that has all of them. */
    public static RequestCounts of(Collection<RequestState> states) {
        return new RequestCounts(
                in(states, RequestState.WAITING),
                in(states, RequestState.PLACING),
                in(states, RequestState.PLACED),
                in(states, RequestState.REQUEUED),
                in(states, RequestState.LOST));
    }

    private static int in(Collection<RequestState> states, String wanted) {
        return (int)
                states.stream().filter(state -> state.state().equals(wanted)).count();
    }
}
