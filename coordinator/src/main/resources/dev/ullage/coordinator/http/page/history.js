// What the page has seen of each device, and what the coordinator kept from before: bounded rings of numbers.

// Rows over all devices: a bound on what the browser holds, whatever the size of the cluster.
const ROWS = 200000;
const MOST = 1800;
const FEWEST = 120;
// In seconds.
const APART = 0.9;

export class History {
  constructor() {
    this.devices = new Map();
    this.last = 0;
  }

  /** Adds the present figures of each device, once a second at most. Time in seconds, as the chart wants it. */
  add(model, time) {
    if (Math.abs(time - this.last) < APART) {
      return;
    }
    this.last = time;
    const kept = Math.max(FEWEST, Math.min(MOST, Math.floor(ROWS / model.devices.size)));
    for (const device of model.devices.values()) {
      const ring = this.devices.get(device.uuid) ?? { times: [], rows: [] };
      this.devices.set(device.uuid, ring);
      ring.times.push(time);
      ring.rows.push({
        used: device.usedBytes,
        promised: device.ceilingBytes,
        budget: device.budgetInForceBytes,
        ranks: (device.ranks ?? []).map((rank) => ({
          key: keyOf(rank),
          phase: rank.phase,
          used: rank.usedBytes,
          limit: rank.limitBytes,
          ceiling: rank.ceilingBytes,
        })),
      });
      while (ring.times.length > kept) {
        ring.times.shift();
        ring.rows.shift();
      }
    }
    for (const uuid of this.devices.keys()) {
      if (!model.devices.has(uuid)) {
        this.devices.delete(uuid);
      }
    }
  }

  /**
   * Puts what the coordinator kept of a device before what was seen here. Its clock is not ours: the newest row, which
   * is at most a second old, is of now.
   */
  fill(uuid, rows, now) {
    const ring = this.devices.get(uuid) ?? { times: [], rows: [] };
    this.devices.set(uuid, ring);
    const shift = now - Date.parse(rows.at(-1)?.time) / 1000;
    const first = ring.times[0] ?? Infinity;
    const older = rows
      .map((row) => ({ time: Date.parse(row.time) / 1000 + shift, row }))
      .filter(({ time }) => time < first - APART / 2);
    ring.times.unshift(...older.map(({ time }) => time));
    ring.rows.unshift(
      ...older.map(({ row }) => ({
        used: row.usedBytes,
        promised: row.ceilingBytes,
        budget: row.budgetInForceBytes,
        ranks: row.ranks.map((rank) => ({
          key: keyOf(rank),
          phase: rank.phase,
          used: rank.usedBytes,
          limit: rank.limitBytes,
          ceiling: rank.ceilingBytes,
        })),
      })),
    );
  }

  /** A gap: nothing was heard for a while, and no line is to be drawn over it. */
  gap(time) {
    for (const ring of this.devices.values()) {
      ring.times.push(time);
      ring.rows.push({ used: null, promised: null, budget: null, ranks: [] });
    }
  }

  ofDevice(uuid) {
    const ring = this.devices.get(uuid) ?? { times: [], rows: [] };
    const column = (name) => ring.rows.map((row) => row[name] ?? null);
    return [ring.times, column('budget'), column('promised'), column('used')];
  }

  /** The lines of one rank, and in which phase it was at each moment. */
  ofRank(uuid, key) {
    const ring = this.devices.get(uuid) ?? { times: [], rows: [] };
    const own = ring.rows.map((row) => row.ranks.find((rank) => rank.key === key));
    const column = (name) => own.map((rank) => rank?.[name] ?? null);
    return { data: [ring.times, column('ceiling'), column('limit'), column('used')], phases: column('phase') };
  }
}

export function keyOf(rank) {
  return `${rank.job}/${rank.rank}@${rank.pid}`;
}
