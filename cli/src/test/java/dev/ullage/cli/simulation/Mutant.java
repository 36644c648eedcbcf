package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.Grant;
import dev.ullage.common.ledger.LedgerCommand.Acknowledge;
import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Desire;
import dev.ullage.common.ledger.LedgerCommand.DesiredLimit;
import dev.ullage.common.ledger.LedgerEvent.LimitConfirmed;
import dev.ullage.common.ledger.LedgerEvent.Snapshot;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.simulation.ClientModel;
import dev.ullage.common.simulation.ClientModel.InForce;
import dev.ullage.worker.limits.KeeperLogic;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** One rule of the protocol switched off. What the simulation does not notice, it does not prove. */
enum Mutant {
    SHRINK_COUNTED_BEFORE_ITS_ACK("shrink counted before its ack", ShrinkCountedAtOnce::new),
    LEDGER_NOT_PERSISTED("ledger not persisted", LedgerNotPersisted::new),
    NO_SEQUENCE_PER_RANK("no per-rank sequence", NoSequence::new),
    TRUST_IN_THE_COORDINATORS_SUMS("trust in the coordinator's sums", TrustInSums::new),
    RAISED_RESERVE_AT_ONCE("raised reserve applied at once", TermsAtOnce::new),
    NO_TOKEN_FENCE("no token fence", NoFence::new),
    RESEND_STORMS("orders re-sent on every message", ResendStorms::new),
    SHRINK_BELOW_WHAT_IS_HELD("shrink below what is held", ShrinkBelowHeld::new),
    PERSIST_AFTER_SEND("persist after send", PersistAfterSend::new),
    POOL_LOWERED_WHILE_OUT("pool lowered while it is out", PoolLoweredWhileOut::new),
    TURN_BEFORE_THE_POOL("turn given before its pool is in force", TurnBeforeThePool::new),
    TURNS_AT_ONCE_AFTER_A_RESTART("turns given at once after a restart", TurnsAtOnce::new),
    TURN_ENDED_WHATEVER_IS_HELD("turn ended whatever is held", TurnEndedHolding::new);

    private final String title;

    @SuppressWarnings("ImmutableEnumChecker") // makes new ones, and keeps none
    private final Supplier<Rules> rules;

    Mutant(String title, Supplier<Rules> rules) {
        this.title = title;
        this.rules = rules;
    }

    String title() {
        return title;
    }

    Rules rules() {
        return rules.get();
    }

    private static Snapshot changed(DeviceLedger ledger, UnaryOperator<Grant> change) {
        List<Grant> grants = ledger.grants().stream().map(change).toList();
        return new Snapshot(ledger.device(), ledger.highestToken(), ledger.wanted(), ledger.inForce(), grants);
    }

    /** The ceiling falls with the order instead of with the confirmation. */
    private static final class ShrinkCountedAtOnce extends Rules {
        @Override
        void afterDecision(SimulatedKeeper keeper) {
            keeper.ledger().grants().stream()
                    .filter(grant -> grant.isOutstanding() && grant.ceiling().isMoreThan(grant.targetMax()))
                    .toList()
                    .forEach(grant -> keeper.force(
                            new LimitConfirmed(grant.instance(), grant.confirmedSequence(), grant.targetMax())));
        }
    }

    private static final class LedgerNotPersisted extends Rules {
        @Override
        boolean persists() {
            return false;
        }

        @Override
        boolean isDurabilityChecked() {
            return false;
        }
    }

    /** Whatever order comes last is applied, and whatever confirmation comes is of the newest order. */
    private static final class NoSequence extends Rules {
        @Override
        Confirm heard(Confirm confirm, DeviceLedger ledger) {
            return ledger.grant(confirm.instance())
                    .map(grant -> new Confirm(
                            confirm.instance(),
                            grant.sequence(),
                            confirm.inForce().min(grant.ceiling())))
                    .orElse(confirm);
        }

        @Override
        ClientModel client(RankInstance instance, Optional<InForce> before) {
            return before.map(inForce -> new Forgetful(instance, inForce)).orElseGet(Forgetful::new);
        }

        private static final class Forgetful extends ClientModel {
            Forgetful() {}

            Forgetful(RankInstance instance, InForce before) {
                super(instance, before);
            }

            @Override
            public Receipt receive(Order order) {
                accept(order);
                return Receipt.NEW;
            }
        }
    }

    /** The coordinator's sum fits the budget, so every rank of its plan is given its limit at once. */
    private static final class TrustInSums extends Rules {
        @Override
        void beforeDesire(SimulatedKeeper keeper, Desire desire) {
            boolean obeys = keeper.ledger()
                    .highestToken()
                    .filter(highest -> desire.token().isOlderThan(highest))
                    .isEmpty();
            if (obeys) {
                keeper.force(changed(keeper.ledger(), grant -> raised(grant, desire)));
            }
        }

        private static Grant raised(Grant grant, Desire desire) {
            MemoryBytes limit = desire.limits().stream()
                    .filter(one -> one.instance().equals(grant.instance()))
                    .map(DesiredLimit::limits)
                    .map(limits -> limits.max())
                    .findFirst()
                    .orElse(MemoryBytes.ZERO);
            return new Grant(
                    grant.instance(),
                    grant.share(),
                    grant.target(),
                    grant.sequence(),
                    grant.confirmedSequence(),
                    grant.ceiling().max(limit));
        }
    }

    /** What is wanted is in force, whether the ceilings fit or not. */
    private static final class TermsAtOnce extends Rules {
        @Override
        void afterDecision(SimulatedKeeper keeper) {
            DeviceLedger ledger = keeper.ledger();
            if (!ledger.wanted().equals(ledger.inForce())) {
                keeper.force(new Snapshot(
                        ledger.device(),
                        ledger.highestToken(),
                        ledger.wanted(),
                        ledger.wanted(),
                        List.copyOf(ledger.grants())));
            }
        }
    }

    /** The last coordinator that spoke is obeyed. */
    private static final class NoFence extends Rules {
        @Override
        void beforeAcknowledge(SimulatedKeeper keeper, Acknowledge acknowledge) {
            obey(keeper, acknowledge.token());
        }

        @Override
        void beforeDesire(SimulatedKeeper keeper, Desire desire) {
            obey(keeper, desire.token());
        }

        private static void obey(SimulatedKeeper keeper, CoordinatorToken token) {
            DeviceLedger ledger = keeper.ledger();
            if (ledger.highestToken().filter(token::isOlderThan).isPresent()) {
                keeper.force(new Snapshot(
                        ledger.device(),
                        Optional.of(token),
                        ledger.wanted(),
                        ledger.inForce(),
                        List.copyOf(ledger.grants())));
            }
        }
    }

    /** Whenever anything is decided, all orders that were not confirmed are sent again. */
    private static final class ResendStorms extends Rules {
        @Override
        void afterDecision(SimulatedKeeper keeper) {
            keeper.ledger().outstandingOrders().forEach(keeper::send);
        }
    }

    /** The client takes the order for what is in force, whatever it holds. */
    private static final class ShrinkBelowHeld extends Rules {
        @Override
        ClientModel client(RankInstance instance, Optional<InForce> before) {
            return before.map(inForce -> new Strict(instance, inForce)).orElseGet(Strict::new);
        }

        private static final class Strict extends ClientModel {
            Strict() {}

            Strict(RankInstance instance, InForce before) {
                super(instance, before);
            }

            @Override
            public Optional<Plan> plan(Optional<MemoryBytes> held) {
                return super.plan(Optional.empty());
            }
        }
    }

    /** A smaller pool is in force at once, whatever of the larger one is out. */
    private static final class PoolLoweredWhileOut extends Rules {
        @Override
        MemoryBytes burstBound(MemoryBytes bound, MemoryBytes allowed) {
            return allowed;
        }
    }

    /** What is wanted may be given, whether the limits have made room or not. */
    private static final class TurnBeforeThePool extends Rules {
        @Override
        MemoryBytes burstsAllowed(KeeperLogic logic) {
            return logic.ledger().wanted().usablePool();
        }
    }

    /** A worker that starts takes every process for one without a turn. */
    private static final class TurnsAtOnce extends Rules {
        @Override
        List<RankInstance> silent(List<RankInstance> granted) {
            return List.of();
        }
    }

    /** The client's turn is over with its phase. */
    private static final class TurnEndedHolding extends Rules {
        @Override
        ClientModel client(RankInstance instance, Optional<InForce> before) {
            return before.map(inForce -> new Hasty(instance, inForce)).orElseGet(Hasty::new);
        }

        private static final class Hasty extends ClientModel {
            Hasty() {}

            Hasty(RankInstance instance, InForce before) {
                super(instance, before);
            }

            @Override
            public boolean endTurn(Optional<MemoryBytes> held) {
                boolean ends = lingers();
                if (ends) {
                    dropTurn();
                }
                return ends;
            }
        }
    }

    private static final class PersistAfterSend extends Rules {
        @Override
        boolean sendsBeforePersisting() {
            return true;
        }

        @Override
        boolean isDurabilityChecked() {
            return false;
        }
    }
}
