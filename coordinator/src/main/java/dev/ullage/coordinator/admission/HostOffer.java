package dev.ullage.coordinator.admission;

/**
 * What one host could give a job beside its devices.
 *
 * @param most what all jobs on it together could ever ask for
 * @param room what is left of that now
 */
record HostOffer(HostRoom most, HostRoom room) {
    static final HostOffer UNKNOWN = new HostOffer(HostRoom.UNKNOWN, HostRoom.UNKNOWN);

    HostOffer {
        room = room.min(most);
    }

    HostOffer withRoom(HostRoom other) {
        return new HostOffer(most, other);
    }

    HostOffer atItsBest() {
        return new HostOffer(most.atItsBest(), most.atItsBest());
    }
}
