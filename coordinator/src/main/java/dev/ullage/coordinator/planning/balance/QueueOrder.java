package dev.ullage.coordinator.planning.balance;

/**
 * Who stands before whom in a queue, for every queue there is: priority and age trade, so everyone comes to the front
 * at last. A priority is worth so much time in the queue; the job with the lowest key is first.
 */
public final class QueueOrder {
    private QueueOrder() {}

    /**
     * @param submittedAt milliseconds on the clock of whoever asks
     * @param priority how much the job matters, more than 0
     * @param ageOfPriority milliseconds of waiting that one whole of priority is worth
     */
    public static double key(long submittedAt, double priority, long ageOfPriority) {
        return submittedAt - priority * ageOfPriority;
    }
}
