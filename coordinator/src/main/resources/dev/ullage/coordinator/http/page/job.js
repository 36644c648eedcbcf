// One job: its request for room, how even it is, what happened to it, and its ranks side by side.

import { element, follow, setAttribute, setText } from './dom.js';
import { loadOf, makeLoad, peakOf, updateLoad } from './evenness.js';
import { UNKNOWN, ago, count, duration, exact, gib, isKnown, leakText, share, shellWord } from './format.js';
import { keyOf } from './history.js';
import { skew } from './model.js';
import { estimate, hasOthers } from './queue.js';
import { ask } from './stream.js';

const MAX_ROWS = 1024;
const UNEVEN = 1.25;
// How often a request that the stream does not name is asked for.
const ASK_EVERY = 5000;
const COPIED_FOR = 2000;
const PHASES_OF_A_STEP = ['FORWARD', 'BACKWARD', 'OPTIMIZER'];

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

export class JobPanel {
  constructor(root, name, onClose, onDevice, events) {
    this.name = name;
    this.onDevice = onDevice;
    this.events = events;
    this.asked = { at: -Infinity, request: null };
    this.title = element('h2', { id: 'detail-title' });
    this.summary = element('p', { class: 'muted' });
    this.policy = element('p', { class: 'muted', 'data-key': 'policy' });
    this.request = element('dl', { class: 'facts', 'data-key': 'request' });
    this.commands = element('ul', { class: 'commands' });
    this.load = makeLoad(onDevice);
    this.moves = element('ul', { class: 'problems' });
    this.rows = element('ol', { class: 'side-by-side' });
    this.rest = element('p', { class: 'muted small' });
    this.past = element('ol', { class: 'events' });
    this.pastTitle = element('h3', {}, 'Its last events');
    const close = element('button', { type: 'button', class: 'plain', 'aria-label': 'Close', onclick: onClose }, 'close');
    const head = element('div', { class: 'panel-head' }, this.title, close);
    const parts = [this.summary, this.policy, this.request, this.commands, this.load, this.moves, this.rows, this.rest];
    root.replaceChildren(head, ...parts, this.pastTitle, this.past);
    delete root.ullageKeys;
  }

  close() {}

  render(model, history, now) {
    const job = model.jobs.find((one) => one.job === this.name);
    setText(this.title, `Job ${this.name}`);
    this.renderRequest(model, now);
    this.pastTitle.hidden = this.events.renderOf(this.past, this.name, model.serverNow(now)) === 0;
    this.load.hidden = !job || !model.evenness;
    if (!job) {
      setText(this.summary, this.asked.request ? 'No rank of this job is known.' : 'No rank of this job is known any more.');
      setText(this.policy, '');
      setText(this.rest, '');
      follow(this.moves, [], (text) => text, () => null, () => null);
      follow(this.rows, [], keyOf, () => null, () => null);
      return;
    }
    const set = model.wishes.get(this.name);
    setText(this.policy, policyText(job, set));
    setText(this.summary, summaryOf(job));
    if (model.evenness) {
      updateLoad(this.load, loadOf(job, model), model.evenness.mode);
    }
    follow(this.moves, movesOf(job), (text) => text, () => element('li'), setText);
    const most = Math.max(...job.ranks.map((rank) => Math.max(rank.ceilingBytes ?? 0, rank.usedBytes ?? 0)));
    const shown = job.ranks.slice(0, MAX_ROWS);
    const even = model.evennessOf(this.name);
    follow(this.rows, shown, keyOf, (rank) => this.makeRow(rank), (row, rank) => updateRow(row, rank, most, even));
    setText(this.rest, job.ranks.length > MAX_ROWS ? `and ${job.ranks.length - MAX_ROWS} more` : '');
  }

  /** The stream names the first of the queue; of another job it is asked. */
  renderRequest(model, now) {
    const told = model.requestOf(this.name);
    if (told) {
      this.asked.request = { ...told, passed: model.serverNow(now) - model.queueAt };
    } else if (!model.queue || !hasOthers(model.queue)) {
      this.asked.request = null;
    } else if (now - this.asked.at > ASK_EVERY) {
      this.asked.at = now;
      ask(`/api/v1/requests/${encodeURIComponent(this.name)}`).then((request) => {
        this.asked.request = request ? { ...request, passed: 0 } : null;
      });
    }
    const { request } = this.asked;
    this.request.hidden = !request;
    this.commands.hidden = !request || request.state === 'cancelled';
    follow(this.request, request ? factsOf(request, now) : [], (fact) => fact.name, makeFact, (node, { text }) => setText(node.children[1], text));
    follow(this.commands, request ? commandsOf(this.name, request) : [], ({ command }) => command, makeCommand, () => null);
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

function summaryOf(job) {
  const value = skew(job.ranks);
  const world = job.ranks.find((rank) => isKnown(rank.worldSize))?.worldSize;
  const processes = `${job.ranks.length.toLocaleString('en')} ${job.ranks.length === 1 ? 'process' : 'processes'}`;
  const now =
    value === null
      ? 'Skew now unknown: not every rank says what it holds.'
      : `Skew now ${value.toFixed(2)}: the largest rank holds ${value.toFixed(2)} times the median` +
        (value > UNEVEN ? ', so it is the one to look at.' : '.');
  return `${processes} of a world of ${world ?? UNKNOWN}. ${now}`;
}

function factsOf(request, now) {
  const [starts, basis] = estimate(request, request.passed, now);
  const facts = [
    { name: 'request', text: isKnown(request.position) ? `${request.state}, position ${request.position}` : request.state },
    { name: 'priority', text: request.priority },
    { name: 'asks for', text: request.wants },
    { name: 'waited', text: duration(request.waitedMillis + request.passed) },
  ];
  if (request.waitsFor) {
    facts.push({ name: 'waits for', text: request.waitsFor, wide: true });
    facts.push({ name: 'may start', text: basis ? `${starts} (${basis})` : starts, wide: true });
  }
  request.notes.forEach((text, at) => facts.push({ name: at === 0 ? 'note' : `note ${at + 1}`, text, wide: true }));
  return facts;
}

function makeFact(fact) {
  return element('div', { class: fact.wide ? 'wide' : null }, element('dt', {}, fact.name), element('dd'));
}

/** This page writes nothing: what would is for a terminal. */
function commandsOf(job, request) {
  const word = shellWord(job);
  const waits = request.state === 'waiting';
  const other = request.priority === 'high' ? 'medium' : 'high';
  return [
    { command: `ullage set priority ${word} ${other}`, does: `${other} instead of ${request.priority} priority` },
    ...(request.state === 'lost' || request.state === 'requeued'
      ? []
      : [{ command: `ullage requeue ${word}`, does: waits ? 'puts it to the end of the queue' : 'ends it, and it waits again' }]),
    { command: `ullage cancel ${word}`, does: waits ? 'takes it out of the queue' : 'ends it' },
  ];
}

function makeCommand({ command, does }) {
  const node = element('li', {}, element('code', {}, command));
  if (navigator.clipboard) {
    const copy = element('button', { type: 'button', class: 'plain', 'aria-label': `Copy ${command}` }, 'copy');
    copy.addEventListener('click', async () => {
      await navigator.clipboard.writeText(command).then(
        () => setText(copy, 'copied'),
        () => setText(copy, 'not allowed to copy'),
      );
      setTimeout(() => setText(copy, 'copy'), COPIED_FOR);
    });
    node.append(copy);
  }
  node.append(element('span', { class: 'muted small' }, does));
  return node;
}

function updateRow(row, rank, most, even) {
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
  const peak = Math.max(...PHASES_OF_A_STEP.map((name) => peakOf(rank, name) ?? 0));
  if (peak > 0) {
    notes.push(`${gib(peak)} at most in a step`);
  }
  if (isKnown(even?.samples?.[rank.rank])) {
    const then = even.proposal?.samples[rank.rank];
    const isOther = isKnown(then) && then !== even.samples[rank.rank];
    notes.push(`batch ${even.samples[rank.rank]}${isOther ? `, suggested ${then}` : ''}`);
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
