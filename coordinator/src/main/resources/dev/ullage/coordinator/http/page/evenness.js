// How evenly the load of each job lies over its ranks, and how full devices are beside the mean of all.

import { makeBars, updateBars } from './bars.js';
import { element, follow, setAttribute, setText } from './dom.js';
import { UNKNOWN, count, full, gib, isKnown, share } from './format.js';
import { byName } from './model.js';

const MAX_JOBS = 12;
const MAX_DEVICES = 8;
const MAX_MOVES = 8;
const PHASES = ['INIT', 'FORWARD', 'BACKWARD', 'OPTIMIZER', 'EVALUATION', 'CHECKPOINT', 'IDLE'];
// The coordinator looks every few seconds; drawing more often shows nothing more.
const DRAW_EVERY = 2000;
// So many shares are told one by one.
const MAX_NAMED = 16;

/** What evenness goes by of one job: its ranks, its phases with the peak of each, and what the coordinator made of them. */
export function loadOf(job, model) {
  const known = model.evennessOf(job.job);
  const ranks = oneOfEach(job.ranks);
  const world = ranks.find((rank) => isKnown(rank.worldSize))?.worldSize;
  const names = PHASES.filter((name) => ranks.some((rank) => isKnown(peakOf(rank, name))));
  const phases = names.map((name) => {
    const bars = ranks.map((rank) => ({
      rank: rank.rank,
      peak: peakOf(rank, name),
      limit: usableOf(rank, name),
      place: `GPU ${rank.index} of ${rank.node}`,
      device: rank.device,
    }));
    const skew = known?.skew.find((one) => one.phase === name) ?? null;
    return { name, ranks: bars, skew, why: skew ? '' : whyUnknown(bars, world, known) };
  });
  const scale = Math.max(0, ...phases.flatMap((phase) => phase.ranks.flatMap((rank) => [rank.peak ?? 0, rank.limit ?? 0])));
  phases.forEach((phase) => (phase.scale = scale));
  const worst = phases.map((phase) => phase.skew).filter(Boolean).sort((a, b) => b.percent - a.percent)[0];
  return { job: job.job, ranks: job.ranks.length, known, phases, worst, fullest: fullestOf(phases) };
}

/** Of two processes of one rank the one that is there. */
function oneOfEach(processes) {
  const ranks = new Map();
  for (const rank of processes) {
    const other = ranks.get(rank.rank);
    if (!other || (rank.connected !== false && other.connected === false)) {
      ranks.set(rank.rank, rank);
    }
  }
  return [...ranks.values()];
}

/** The most it held in a phase, as far as its allocator tells what counts against a limit. */
export function peakOf(rank, phase) {
  const peak = rank.watch?.phases.find((one) => one.phase === phase);
  return peak?.peakReservedBytes ?? peak?.peakAllocatedBytes ?? null;
}

/** What its allocator may hold: a limit is one on the process, which uses more than that. */
function usableOf(rank, phase) {
  const limit = rank.limitsBytes?.[phase];
  return isKnown(limit) ? Math.max(0, limit - (rank.enforcement?.overheadBytes ?? 0)) : null;
}

function whyUnknown(ranks, world, known) {
  const told = ranks.filter((rank) => isKnown(rank.peak)).length;
  if (!isKnown(world)) {
    return 'no rank says how many there are';
  }
  if (ranks.length < world) {
    return `${ranks.length} of ${count(world, 'rank')} ${ranks.length === 1 ? 'is' : 'are'} known`;
  }
  if (told < ranks.length) {
    return `${told} of ${count(ranks.length, 'rank')} ${told === 1 ? 'has told its' : 'have told their'} peak`;
  }
  if (world === 1) {
    return 'one rank has none to be compared with';
  }
  return known ? 'the coordinator did not have all of it at its last look' : 'the coordinator has not looked yet';
}

/** The rank that is nearest to what it may hold, or above it. */
function fullestOf(phases) {
  let fullest = null;
  for (const phase of phases) {
    for (const rank of phase.ranks) {
      const fill = isKnown(rank.peak) && rank.limit > 0 ? rank.peak / rank.limit : null;
      if (fill !== null && (!fullest || fill > fullest.fill)) {
        fullest = { ...rank, fill, phase: phase.name };
      }
    }
  }
  return fullest;
}

export function makeLoad(onDevice) {
  const fullest = element('p', {}, element('span'), element('button', { type: 'button', class: 'plain' }), element('span'));
  fullest.children[1].addEventListener('click', () => onDevice(fullest.ullageDevice));
  return element(
    'div',
    { class: 'load' },
    element('div', { class: 'phases' }),
    element('div', { class: 'told' }, element('p', { class: 'verdict' }), fullest, element('p'), element('p', { class: 'muted' })),
  );
}

export function updateLoad(node, load, mode) {
  const [phases, told] = node.children;
  follow(phases, load.phases, (phase) => phase.name, makeBars, updateBars);
  phases.hidden = load.phases.length === 0;
  const [verdict, fullest, shares, why] = told.children;
  setAttribute(verdict, 'data-state', stateOf(load));
  setText(verdict, verdictOf(load));
  updateFullest(fullest, load.fullest);
  const samples = load.known?.samples;
  setText(shares, samples ? `Batch shares in force: ${sharesText(samples)}.` : '');
  setAttribute(shares, 'title', samples ? `by rank: ${samples.join(', ')}` : null);
  setText(why, adviceOf(load, mode));
  [shares, why].forEach((line) => (line.hidden = line.textContent === ''));
}

function updateFullest(node, fullest) {
  const [before, place, after] = node.children;
  node.hidden = !fullest;
  if (fullest) {
    node.ullageDevice = fullest.device;
    setText(before, `Fullest: rank ${fullest.rank} on `);
    setText(place, fullest.place);
    const fill = Math.floor(fullest.fill * 100);
    setText(after, `, ${fill} % of what it may hold in ${fullest.phase.toLowerCase()} (${gib(fullest.peak)} of ${gib(fullest.limit)}).`);
  }
}

export function stateOf(load) {
  if (load.known?.uneven) {
    return 'uneven';
  }
  return load.worst ? 'known' : 'unknown';
}

function verdictOf(load) {
  if (!load.worst) {
    const whys = new Set(load.phases.map((phase) => phase.why));
    return `Unknown: ${whys.size > 0 ? [...whys].join('; ') : 'no rank has told the peaks of its phases'}.`;
  }
  const { rank, phase, percent, peakBytes, medianBytes } = load.worst;
  return (
    `${load.known.uneven ? 'Uneven: r' : 'R'}ank ${rank} holds the most in ${phase.toLowerCase()}, ${gib(peakBytes)}, ` +
    `${percent} % of the median of ${gib(medianBytes)}.`
  );
}

function adviceOf(load, mode) {
  if (!load.known?.explanation) {
    return '';
  }
  const { proposal, explanation } = load.known;
  return `${proposal ? (mode === 'on' ? 'Batch shares: ' : 'Suggestion, nothing is sent: ') : 'Batch shares: '}${explanation}.`;
}

/** 8 each; 8, 9, 7, 8; 7 to 9. */
export function sharesText(samples) {
  const least = Math.min(...samples);
  const most = Math.max(...samples);
  if (least === most) {
    return `${least} each`;
  }
  return samples.length <= MAX_NAMED ? samples.join(', ') : `${least} to ${most}`;
}

export class EvennessPanel {
  constructor(root, note, legend, onJob, onDevice) {
    this.note = note;
    this.legend = legend;
    this.onJob = onJob;
    this.onDevice = onDevice;
    this.jobs = element('ul', { class: 'loads' });
    this.rest = element('p', { class: 'muted small' });
    this.far = element('div', { class: 'far' });
    this.moves = element('ul', { class: 'moves' });
    this.scroll = element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Evenness of each job' }, this.jobs, this.rest);
    root.replaceChildren(this.scroll, this.far, this.moves);
    this.drawnAt = -Infinity;
  }

  render(model) {
    if (model.heardAt - this.drawnAt < DRAW_EVERY) {
      return;
    }
    this.drawnAt = model.heardAt;
    const evenness = model.evenness;
    const loads = evenness ? model.jobs.map((job) => loadOf(job, model)).sort(worstFirst) : [];
    setText(this.note, noteOf(evenness, loads, model));
    const shown = loads.slice(0, MAX_JOBS);
    this.legend.hidden = !shown.some((load) => load.phases.length > 0);
    this.scroll.hidden = shown.length === 0;
    follow(this.jobs, shown, (load) => load.job, (load) => this.make(load), (node, load) => {
      setAttribute(node, 'data-state', stateOf(load));
      setText(node.firstElementChild.children[1], count(load.ranks, 'rank'));
      updateLoad(node.children[1], load, evenness.mode);
    });
    const left = loads.length - shown.length;
    setText(this.rest, left > 0 ? `and ${left.toLocaleString('en')} more, none of them more uneven: each is shown with its job` : '');
    this.rest.hidden = left <= 0;
    this.renderFar(evenness?.devices ?? [], model);
    this.renderMoves(evenness?.moves ?? [], model);
  }

  make(load) {
    const name = element('button', { type: 'button', class: 'plain name', title: load.job, onclick: () => this.onJob(load.job) }, load.job);
    return element('li', {}, element('div', { class: 'who' }, name, element('span', { class: 'muted small' })), makeLoad(this.onDevice));
  }

  renderFar(devices, model) {
    const mean = devices[0]?.meanBasisPoints;
    const fill = (a, b) => a.fillBasisPoints - b.fillBasisPoints;
    const lists = [
      { name: 'above', devices: devices.filter((device) => device.fillBasisPoints > mean).sort((a, b) => fill(b, a)) },
      { name: 'below', devices: devices.filter((device) => device.fillBasisPoints < mean).sort(fill) },
    ].filter((list) => list.devices.length > 0);
    this.far.hidden = lists.length === 0;
    follow(this.far, lists, (list) => list.name, makeFarList, (node, list) => {
      const left = list.devices.length - MAX_DEVICES;
      setText(node.children[0], `Far ${list.name} the mean of all devices, ${full(mean)}`);
      const shown = list.devices.slice(0, MAX_DEVICES);
      follow(node.children[1], shown, (device) => device.device, (device) => this.makeFar(device), (item, device) => {
        setText(item.children[0], model.placeOf(device.device));
        item.children[1].style.setProperty('--width', `${Math.min(100, device.fillBasisPoints / 100)}%`);
        item.children[1].style.setProperty('--left', `${Math.min(100, device.meanBasisPoints / 100)}%`);
        setText(item.children[2], full(device.fillBasisPoints));
      });
      setText(node.children[2], left > 0 ? `and ${left.toLocaleString('en')} more` : '');
      node.children[2].hidden = left <= 0;
    });
  }

  makeFar(device) {
    const bar = element('span', { class: 'fill', 'aria-hidden': 'true' }, element('i', { class: 'used' }), element('i', { class: 'mean' }));
    const name = element('button', { type: 'button', class: 'plain', onclick: () => this.onDevice(device.device) });
    return element('li', {}, name, bar, element('span'));
  }

  renderMoves(moves, model) {
    this.moves.hidden = moves.length === 0;
    const shown = moves.slice(0, MAX_MOVES);
    const keyed = [...shown, ...(moves.length > MAX_MOVES ? [null] : [])];
    follow(this.moves, keyed, keyOfMove, (move) => (move ? this.makeMove(move) : element('li', { class: 'muted small' })), (node, move) => {
      if (!move) {
        setText(node, `and ${count(moves.length - MAX_MOVES, 'more move')}`);
        return;
      }
      const [, , , from, , to, gain] = node.children;
      setText(from, model.placeOf(move.from));
      setText(to, model.placeOf(move.to));
      setText(
        gain,
        `: the fuller of the two from ${full(move.fullerBasisPoints)} to ${full(move.fullerThenBasisPoints)}, ` +
          `the mean of all from ${share(move.meanBasisPoints)} to ${share(move.meanThenBasisPoints)}; it needs ${gib(move.needsBytes)}`,
      );
      setAttribute(node, 'title', move.text);
    });
  }

  makeMove(move) {
    const link = (onclick, text) => element('button', { type: 'button', class: 'plain', onclick }, text);
    return element(
      'li',
      {},
      element('span', {}, 'Suggestion, nothing is moved: '),
      link(() => this.onJob(move.job), `rank ${move.rank} of ${move.job}`),
      element('span', {}, ' from '),
      link(() => this.onDevice(move.from), ''),
      element('span', {}, ' to '),
      link(() => this.onDevice(move.to), ''),
      element('span'),
    );
  }
}

const keyOfMove = (move) => (move ? `${move.rank}@${move.from}>${move.to}/${move.job}` : '');

function makeFarList(list) {
  return element('div', { 'data-key': list.name }, element('h3'), element('ol'), element('p', { class: 'muted small' }));
}

/** The uneven first, then those with a suggestion, the known by how far they are, and the unknown last. */
function worstFirst(a, b) {
  const rank = (load) => (load.known?.uneven ? 0 : load.known?.proposal ? 1 : load.worst ? 2 : 3);
  return rank(a) - rank(b) || (b.worst?.percent ?? 0) - (a.worst?.percent ?? 0) || byName(a.job, b.job);
}

function noteOf(evenness, loads, model) {
  if (!evenness) {
    return 'Not known: the coordinator has not looked yet, or is told not to (ullage.coordinator.evenness.mode).';
  }
  if (loads.length === 0) {
    return 'No rank is known.';
  }
  const of = (state) => loads.filter((load) => stateOf(load) === state).length;
  const jobs = [of('uneven') > 0 ? `${of('uneven')} of ${count(loads.length, 'job')} uneven` : 'No job is known to be uneven'];
  if (of('unknown') > 0) {
    jobs.push(`${of('unknown')} ${UNKNOWN}`);
  }
  if (model.far.size > 0) {
    jobs.push(`${count(model.far.size, 'device')} far from the mean`);
  }
  const mode = evenness.mode === 'on' ? 'batch shares are ordered' : 'nothing is sent';
  return `${jobs.join(', ')}. Mode ${evenness.mode}: ${mode}.`;
}
