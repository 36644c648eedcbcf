package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.LedgerCommand;
import dev.ullage.common.ledger.LedgerCommand.CommitReservation;
import dev.ullage.common.ledger.LedgerCommand.ReleaseReservation;
import dev.ullage.common.ledger.LedgerCommand.Reserve;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.worker.limits.KeeperLogic.Decision;
import java.util.List;
import java.util.stream.Collectors;

/** What the trace of {@link GangSimulation} says of messages and decisions: as short as a person can still read it. */
final class GangLines {
    private GangLines() {}

    static String of(LedgerCommand command) {
        if (command instanceof Reserve reserve) {
            return "reserve " + reserve.reservation().id() + " on "
                    + reserve.reservation().parts().stream()
                            .map(part -> part.device() + " " + part.amount())
                            .collect(Collectors.joining(", "));
        }
        if (command instanceof CommitReservation commit) {
            return "commit " + commit.id();
        }
        if (command instanceof ReleaseReservation release) {
            return "release " + release.id();
        }
        return command.getClass().getSimpleName();
    }

    static String of(LimitsReported report) {
        List<ReservationReport> held = report.ledger().reservations().orElse(List.of());
        return "report of %s, obeys %s, keeps %s"
                .formatted(
                        report.device(),
                        report.token().map(CoordinatorToken::toString).orElse("nobody"),
                        held.stream()
                                .map(one -> one.reservation().id() + (one.committed() ? " committed" : " reserved"))
                                .toList());
    }

    /** What became of it; empty when nothing did. */
    static String of(Decision decision) {
        return decision.events().stream().map(GangLines::of).collect(Collectors.joining(", "))
                + decision.refusals().stream()
                        .map(refusal -> " refused: " + refusal.message())
                        .collect(Collectors.joining());
    }

    private static String of(LedgerEvent event) {
        if (event instanceof LedgerEvent.ReservationMade made) {
            return "reserved " + made.reservation().id();
        }
        if (event instanceof LedgerEvent.TokenSeen seen) {
            return "obeys " + seen.token() + " from now on";
        }
        return event.toString();
    }
}
