package dev.ullage.common.protocol;

/**
 * Which of two reports of a ledger is the newer one: they come on two ways, some through whoever passes the worker's
 * messages on and some as an answer, and one can overtake another.
 *
 * @param since when the keeper that counts was started, milliseconds since 1970; only that it is the same is of meaning
 * @param number 1 for its first report, then 2
 */
public record ReportNumber(long since, long number) {

    /** Numbers of different keepers, one of which has taken the other's place, are not compared. */
    public boolean isOlderThan(ReportNumber other) {
        return since == other.since && number < other.number;
    }
}
