// Jobs: the list of all, and one with its ranks side by side.

import { element, follow, setAttribute, setText } from './dom.js';
import { UNKNOWN, ago, count, exact, gib, isKnown, leakText, share, sum } from './format.js';
import { keyOf } from './history.js';
import { skew } from './model.js';

const MAX_ROWS = 256;
const MAX_JOBS = 100;
const UNEVEN = 1.25;

/** Used as the filling, the limit and the ceiling as marks, all against the same largest amount. */
export function renderBar(bar, rank, most) {
  if (bar.childElementCount === 0) {
    bar.append(element('i', { class: 'used' }), element('i', { class: 'limit' }), element('i', { class: 'ceiling' }), element('span'));
  }
  const [used, limit, ceiling, text] = bar.children;
  const place = (node, name, bytes) => {
    node.hidden = !isKnown(bytes) || most <= 0;
    node.style.setProperty(name, `${Math.min(100, ((bytes ?? 0) * 100) / (most || 1)).toFixed(1)}%`);
  };
  place(used, '--width', rank.usedBytes);
  place(limit, '--left', rank.limitBytes);
  place(ceiling, '--left', rank.ceilingBytes);
  setAttribute(bar, 'data-above', rank.usedBytes > rank.limitBytes && isKnown(rank.limitBytes) ? '' : null);
  setText(text, `${gib(rank.usedBytes)} used, limit ${gib(rank.limitBytes)}, ceiling ${gib(rank.ceilingBytes)}`);
  setAttribute(bar, 'title', `used ${exact(rank.usedBytes)}, limit ${exact(rank.limitBytes)}, ceiling ${exact(rank.ceilingBytes)}`);
}

export function renderJobs(root, model, onSelect) {
  const jobs = model.jobs.slice(0, MAX_JOBS);
  follow(root, jobs, (job) => job.job, (job) => makeJob(job, onSelect), updateJob);
  if (jobs.length === 0 && !root.firstChild) {
    root.append(element('p', { class: 'muted' }, 'No rank is known.'));
  } else if (jobs.length > 0) {
    root.querySelector('p')?.remove();
  }
}

function makeJob(job, onSelect) {
  return element(
    'button',
    { type: 'button', class: 'job', onclick: () => onSelect(job.job) },
    element('span', { class: 'name' }),
    element('span', { class: 'muted' }),
    element('span', { class: 'muted' }),
  );
}

function updateJob(node, job) {
  const [name, ranks, memory] = node.children;
  const used = sum(job.ranks.map((rank) => rank.usedBytes));
  const promised = sum(job.ranks.map((rank) => rank.ceilingBytes));
  setText(name, job.job);
  setText(ranks, `${count(job.ranks.length, 'rank')}${skewText(job.ranks)}`);
  setText(memory, `${gib(used)} used of ${gib(promised)}`);
  setAttribute(memory, 'title', `${exact(used)} of ${exact(promised)}`);
}

function skewText(ranks) {
  const value = skew(ranks);
  return value === null || ranks.length < 2 ? '' : `, skew ${value.toFixed(2)}`;
}

export class JobPanel {
  constructor(root, name, onClose, onDevice) {
    this.name = name;
    this.onDevice = onDevice;
    this.title = element('h2', { id: 'detail-title' });
    this.summary = element('p', { class: 'muted' });
    this.policy = element('p', { class: 'muted', 'data-key': 'policy' });
    this.moves = element('ul', { class: 'problems' });
    this.rows = element('ol', { class: 'side-by-side' });
    this.rest = element('p', { class: 'muted small' });
    const close = element('button', { type: 'button', class: 'plain', 'aria-label': 'Close', onclick: onClose }, 'close');
    const head = element('div', { class: 'panel-head' }, this.title, close);
    root.replaceChildren(head, this.summary, this.policy, this.moves, this.rows, this.rest);
  }

  close() {}

  render(model) {
    const job = model.jobs.find((one) => one.job === this.name);
    setText(this.title, `Job ${this.name}`);
    if (!job) {
      setText(this.summary, 'No rank of this job is known any more.');
      setText(this.policy, '');
      follow(this.rows, [], keyOf, () => null, () => null);
      return;
    }
    const value = skew(job.ranks);
    const world = job.ranks.find((rank) => isKnown(rank.worldSize))?.worldSize;
    const set = model.wishes.get(this.name);
    setText(this.policy, policyText(job, set));
    setText(
      this.summary,
      `${count(job.ranks.length, 'process')}`.replace('processs', 'processes') +
        ` of a world of ${world ?? UNKNOWN}. ` +
        (value === null
          ? 'Skew unknown: not every rank says what it holds.'
          : `Skew ${value.toFixed(2)}: the largest rank holds ${value.toFixed(2)} times the median` +
            (value > UNEVEN ? ', so it is the one to look at.' : '.')),
    );
    follow(this.moves, movesOf(job), (text) => text, () => element('li'), setText);
    const most = Math.max(...job.ranks.map((rank) => Math.max(rank.ceilingBytes ?? 0, rank.usedBytes ?? 0)));
    const shown = job.ranks.slice(0, MAX_ROWS);
    follow(this.rows, shown, keyOf, (rank) => this.makeRow(rank), (row, rank) => updateRow(row, rank, most));
    setText(this.rest, job.ranks.length > MAX_ROWS ? `and ${job.ranks.length - MAX_ROWS} more` : '');
  }

  makeRow(rank) {
    return element(
      'li',
      {},
      element('button', { type: 'button', class: 'plain name', onclick: () => this.onDevice(rank.device) }),
      element('span', { class: 'phase' }),
      element('div', { class: 'bar' }),
      element('span', { class: 'muted small' }),
    );
  }
}

function updateRow(row, rank, most) {
  const [name, phase, bar, note] = row.children;
  setText(name, `rank ${rank.rank}`);
  setAttribute(name, 'title', `on GPU ${rank.index} of ${rank.node}, process ${rank.pid}`);
  setText(phase, rank.phase ? rank.phase.toLowerCase() : 'phase unknown');
  setAttribute(phase, 'data-phase', rank.phase);
  renderBar(bar, rank, most);
  const notes = [];
  if (rank.connected === false) {
    notes.push('offline');
  }
  const leak = leakText(rank.watch);
  if (leak) {
    notes.push(leak);
  }
  setText(note, notes.join(', '));
}

/** By which policy and priority its ranks have their limits, and what an operator set. */
function policyText(job, set) {
  const of = (field) => [...new Set(job.ranks.map((rank) => rank[field]).filter(Boolean))].sort();
  const policies = of('policy');
  const priorities = of('priority');
  const parts = [policies.length > 0 ? `Policy ${policies.join(', ')}` : 'Policy unknown'];
  if (priorities.length > 0) {
    parts.push(`priority ${priorities.join(', ')}`);
  }
  const wishes = [];
  if (set?.policy) {
    wishes.push('policy');
  }
  if (set?.priority) {
    wishes.push('priority');
  }
  if (isKnown(set?.shareBasisPoints)) {
    wishes.push(`a share of ${share(set.shareBasisPoints)}`);
  }
  const limits = (set?.ranks ?? []).filter((rank) => isKnown(rank.limitBytes));
  if (limits.length > 0) {
    wishes.push(`the limits of ${count(limits.length, 'rank')}`);
  }
  return `${parts.join(', ')}.${wishes.length > 0 ? ` An operator set ${wishes.join(', ')}.` : ''}`;
}

/** What the job was directed to after one of its ranks ran out of memory. */
function movesOf(job) {
  return job.oomMoves.map((move) => {
    const sizes = isKnown(move.microBatch) ? `, micro-batch ${move.microBatch} x ${move.accumulation ?? UNKNOWN}` : '';
    const level = move.level.toLowerCase().replace('_', '-');
    return `${level}${sizes}, ${move.state.toLowerCase()}, ${ago(move.ageMillis)}: ${move.reason}`;
  });
}
