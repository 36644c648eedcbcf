// What is known of the cluster, put together from snapshots; and what a person should see first in it.

import { isKnown, sum } from './format.js';

// From the worst to the best; a tile shows the first that holds. The letter is for those who see no colours.
export const MARKS = [
  { name: 'lost', letter: 'L', text: 'lost: it does not answer' },
  { name: 'over', letter: '!', text: 'over budget: more is promised than may be' },
  { name: 'stalled', letter: 'S', text: 'stalled: a limit is not confirmed in time' },
  { name: 'stale', letter: '?', text: 'stale: its newest reading is old, or there is none' },
  { name: 'foreign', letter: 'F', text: 'foreign: others hold 5 % or more of it' },
  { name: 'full', letter: '', text: 'full: 95 % or more of its budget is promised' },
  { name: 'fine', letter: '', text: 'room left' },
];
const FULL = 0.95;
const FOREIGN = 0.05;

export class Model {
  constructor() {
    this.devices = new Map();
    this.nodes = new Map();
    this.hosts = new Map();
    this.coordinator = null;
    this.jobs = [];
    this.wishes = new Map();
    this.drains = new Map();
    this.errors = [];
    // What the coordinator says of both, or null while it says nothing.
    this.queue = null;
    this.queueAt = null;
    this.evenness = null;
    this.far = new Map();
    this.evenJobs = new Map();
    this.heardAt = null;
    this.serverTime = null;
  }

  get isEmpty() {
    return this.heardAt === null;
  }

  /** Takes a snapshot in; returns the devices that changed. */
  take(snapshot, now) {
    this.heardAt = now;
    this.serverTime = Date.parse(snapshot.time);
    this.coordinator = snapshot.coordinator;
    this.errors = snapshot.errors ?? [];
    this.oomMoves = snapshot.oomMoves ?? [];
    this.wishes = new Map((snapshot.operator?.jobs ?? []).map((wish) => [wish.job, wish]));
    this.drains = new Map((snapshot.operator?.draining ?? []).map((drain) => [drain.node, drain]));
    this.nodes = new Map(snapshot.nodes.map((node) => [node.node, node]));
    if (snapshot.full) {
      this.devices.clear();
      this.hosts.clear();
    }
    Object.entries(snapshot.hosts ?? {}).forEach(([node, host]) => this.hosts.set(node, host));
    for (const device of snapshot.devices) {
      this.devices.set(device.uuid, { ...device, mark: markOf(device) });
    }
    for (const [uuid, age] of Object.entries(snapshot.ages ?? {})) {
      const device = this.devices.get(uuid);
      if (device) {
        device.sampleAgeMillis = age;
      }
    }
    (snapshot.gone ?? []).forEach((uuid) => this.devices.delete(uuid));
    // Left out: as before, but for the time that passed.
    if (snapshot.full || snapshot.queue !== undefined) {
      this.queue = snapshot.queue ?? null;
      this.queueAt = this.serverTime;
    }
    this.evenness = snapshot.evenness ?? null;
    this.far = new Map((this.evenness?.devices ?? []).map((device) => [device.device, device]));
    this.evenJobs = new Map((this.evenness?.jobs ?? []).map((job) => [job.job, job]));
    this.jobs = this.jobList();
    return snapshot.devices;
  }

  /** How old all of this is, by this machine's clock. */
  age(now) {
    return this.heardAt === null ? null : now - this.heardAt;
  }

  /** What time it is by the server's clock. */
  serverNow(now) {
    return this.serverTime + this.age(now);
  }

  /** The request of a job, when it is among those that the stream names. */
  requestOf(job) {
    return this.queue?.items.find((item) => item.job === job);
  }

  evennessOf(job) {
    return this.evenJobs.get(job);
  }

  /** GPU 3 of host-a; its UUID when it is not known. */
  placeOf(uuid) {
    const device = this.devices.get(uuid);
    return device ? `GPU ${device.index} of ${device.node}` : uuid;
  }

  /** Nodes in order, each with its devices. */
  byNode() {
    const byNode = new Map([...this.nodes.keys()].sort(byName).map((name) => [name, []]));
    for (const device of this.devices.values()) {
      byNode.get(device.node)?.push(device);
    }
    byNode.forEach((devices) => devices.sort((a, b) => a.index - b.index || byName(a.uuid, b.uuid)));
    return byNode;
  }

  totals() {
    const devices = [...this.devices.values()];
    const of = (field) => sum(devices.map((device) => device[field]));
    const marks = Object.fromEntries(MARKS.map((mark) => [mark.name, 0]));
    devices.forEach((device) => (marks[device.mark] += 1));
    return {
      nodes: this.nodes.size,
      devices: devices.length,
      ranks: devices.reduce((ranks, device) => ranks + (device.ranks?.length ?? 0), 0),
      capacity: of('allocatableBytes'),
      promised: of('ceilingBytes'),
      used: of('usedBytes'),
      reserve: sum(devices.map(reserveOf)),
      over: devices.filter((device) => device.overBudget === true).length,
      stalled: devices.filter((device) => device.rollout === 'STALLED').length,
      lost: devices.filter((device) => device.sampleState === 'lost').length,
      stale: devices.filter((device) => device.sampleState !== 'lost' && isStale(device)).length,
      uneven: this.evenness ? this.evenness.jobs.filter((job) => job.uneven).length : null,
    };
  }

  jobList() {
    const jobs = new Map();
    for (const device of this.devices.values()) {
      for (const rank of device.ranks ?? []) {
        if (!jobs.has(rank.job)) {
          jobs.set(rank.job, { job: rank.job, ranks: [], oomMoves: [] });
        }
        jobs.get(rank.job).ranks.push({ ...rank, node: device.node, index: device.index, device: device.uuid });
      }
    }
    this.oomMoves.forEach((move) => jobs.get(move.job)?.oomMoves.push(move));
    jobs.forEach((job) => job.ranks.sort((a, b) => a.rank - b.rank || a.pid - b.pid));
    return [...jobs.values()].sort((a, b) => byName(a.job, b.job));
  }
}

/** Largest over median of what the ranks hold; null while one of them is not known or holds nothing. */
export function skew(ranks) {
  const used = ranks.map((rank) => rank.usedBytes);
  if (used.length === 0 || used.some((bytes) => !isKnown(bytes))) {
    return null;
  }
  used.sort((a, b) => a - b);
  const middle = used.length >> 1;
  const median = used.length % 2 === 1 ? used[middle] : (used[middle - 1] + used[middle]) / 2;
  return median > 0 ? used.at(-1) / median : null;
}

/** What is kept free of a device: what it can give out, less what may be promised and what others hold. */
export function reserveOf(device) {
  const { allocatableBytes, reserveInForceBasisPoints } = device;
  return isKnown(allocatableBytes) && isKnown(reserveInForceBasisPoints)
    ? allocatableBytes - Math.floor((allocatableBytes * (10000 - reserveInForceBasisPoints)) / 10000)
    : null;
}

function isStale(device) {
  return device.sampleState === 'stale' || !isKnown(device.usedBytes) || !isKnown(device.ceilingBytes);
}

function markOf(device) {
  if (device.sampleState === 'lost') {
    return 'lost';
  }
  if (device.overBudget === true) {
    return 'over';
  }
  if (device.rollout === 'STALLED') {
    return 'stalled';
  }
  if (isStale(device)) {
    return 'stale';
  }
  if (isKnown(device.foreignBytes) && device.foreignBytes >= device.allocatableBytes * FOREIGN) {
    return 'foreign';
  }
  return device.ceilingBytes > 0 && device.ceilingBytes >= device.budgetBytes * FULL ? 'full' : 'fine';
}

export function byName(a, b) {
  return a.localeCompare(b, 'en', { numeric: true });
}
