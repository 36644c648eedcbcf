// One device: its figures, its ranks, and both over time.

import { Chart } from './chart.js';
import { element, follow, setAttribute, setText } from './dom.js';
import { UNKNOWN, ago, exact, full, gib, isKnown, leakText, percent, share } from './format.js';
import { keyOf } from './history.js';
import { renderBar } from './job.js';

const MAX_CHARTS = 8;
const DEVICE_LINES = [
  { label: 'budget', colour: '--muted', dash: [6, 4] },
  { label: 'promised', colour: '--ceiling' },
  { label: 'used', colour: '--used', fill: '--used-faint' },
];
const RANK_LINES = [
  { label: 'ceiling', colour: '--ceiling', dash: [6, 4] },
  { label: 'limit', colour: '--limit' },
  { label: 'used', colour: '--used', fill: '--used-faint' },
];

export class DevicePanel {
  constructor(root, uuid, onClose, onJob) {
    this.uuid = uuid;
    this.onJob = onJob;
    this.charts = new Map();
    this.title = element('h2', { id: 'detail-title' });
    this.facts = element('dl', { class: 'facts' });
    this.problems = element('ul', { class: 'problems' });
    this.chart = new Chart('Used, promised and budget of this device over the last minutes', DEVICE_LINES);
    this.ranks = element('ol', { class: 'ranks' });
    this.empty = element('p', { class: 'muted' });
    const close = element('button', { type: 'button', class: 'plain', 'aria-label': 'Close', onclick: onClose }, 'close');
    root.replaceChildren(
      element('div', { class: 'panel-head' }, this.title, close),
      this.facts,
      this.problems,
      this.chart.root,
      this.empty,
      this.ranks,
    );
    delete root.ullageKeys;
  }

  close() {
    this.chart.close();
    this.charts.forEach((chart) => chart.close());
  }

  render(model, history, now) {
    const device = model.devices.get(this.uuid);
    if (!device) {
      setText(this.title, `Device ${this.uuid} is not known any more`);
      return;
    }
    setText(this.title, `GPU ${device.index} of ${device.node}`);
    follow(this.facts, factsOf(device, model.age(now), model), (fact) => fact.name, makeFact, updateFact);
    const problems = [...(device.problems ?? []), ...(device.heldBack ? [`held back: ${device.heldBack}`] : [])];
    follow(this.problems, problems, (text) => text, () => element('li'), setText);
    this.chart.set(history.ofDevice(this.uuid));
    const ranks = device.ranks ?? [];
    setText(this.empty, emptyText(device));
    follow(this.ranks, ranks, keyOf, (rank) => this.makeRank(rank), (node, rank) => this.renderRank(node, rank, history));
    for (const [key, chart] of this.charts) {
      if (!ranks.some((rank) => keyOf(rank) === key)) {
        chart.close();
        this.charts.delete(key);
      }
    }
  }

  makeRank(rank) {
    const node = element(
      'li',
      { class: 'rank' },
      element(
        'div',
        { class: 'rank-head' },
        element('button', { type: 'button', class: 'plain name', onclick: () => this.onJob(rank.job) }),
        element('span', { class: 'phase' }),
        element('span', { class: 'muted small' }),
      ),
      element('div', { class: 'bar' }),
      element('p', { class: 'muted small' }),
    );
    if (this.charts.size < MAX_CHARTS) {
      const chart = new Chart('Used, limit and ceiling of this rank, with its phases as bands', RANK_LINES);
      this.charts.set(keyOf(rank), chart);
      node.append(chart.root);
    }
    return node;
  }

  renderRank(node, rank, history) {
    const [head, bar, why] = node.children;
    setText(head.children[0], `rank ${rank.rank} of ${rank.job}`);
    setText(head.children[1], rank.phase ? rank.phase.toLowerCase() : 'phase unknown');
    setAttribute(head.children[1], 'data-phase', rank.phase);
    setText(head.children[2], noteOf(rank));
    renderBar(bar, rank, Math.max(rank.ceilingBytes ?? 0, rank.usedBytes ?? 0));
    setText(why, rank.explanation ? `${rank.policy}${priorityText(rank)}: ${rank.explanation}` : '');
    const { data, phases } = history.ofRank(this.uuid, keyOf(rank));
    this.charts.get(keyOf(rank))?.set(data, phases);
  }
}

function emptyText(device) {
  if (!device.ranks) {
    return 'It is not known which ranks there are: its worker has not said so yet.';
  }
  return device.ranks.length === 0 ? 'No rank on this device.' : '';
}

const priorityText = (rank) => (rank.priority ? `, priority ${rank.priority}` : '');

function noteOf(rank) {
  const parts = [`process ${rank.pid}`];
  if (isKnown(rank.setLimitBytes)) {
    parts.push(`limit set to ${gib(rank.setLimitBytes)}`);
  }
  if (isKnown(rank.step)) {
    parts.push(`step ${rank.step.toLocaleString('en')}`);
  }
  parts.push(rank.enforcedBy ? `held by ${rank.enforcedBy}` : 'held by unknown');
  if (rank.connected === false) {
    parts.push('offline');
  }
  if (rank.settled === false) {
    parts.push('settling');
  }
  const leak = leakText(rank.watch);
  if (leak) {
    parts.push(leak);
  }
  return parts.join(', ');
}

function factsOf(device, age, model) {
  const node = model.nodes.get(device.node);
  const far = model.far.get(device.uuid);
  const memory = (name, bytes, of) => ({
    name,
    text: of === undefined ? gib(bytes) : `${gib(bytes)} (${percent(bytes, of)})`,
    title: exact(bytes),
  });
  const sampled = isKnown(device.sampleAgeMillis) ? device.sampleAgeMillis + age : null;
  const wanted = share(device.reserveBasisPoints);
  const inForce = share(device.reserveInForceBasisPoints);
  return [
    { name: 'model', text: device.name },
    memory('capacity', device.allocatableBytes),
    memory('budget', device.budgetInForceBytes),
    memory('promised', device.ceilingBytes, device.budgetInForceBytes),
    memory('used', device.usedBytes, device.allocatableBytes),
    isKnown(device.foreignBytes)
      ? memory('foreign', device.foreignBytes)
      : { ...memory('foreign', device.plannedForeignBytes), name: 'foreign, as planned with' },
    { name: 'reserve', text: wanted === inForce ? wanted : `${inForce} in force, ${wanted} wanted` },
    { name: 'reading', text: `${device.sampleState ?? UNKNOWN}, ${ago(sampled)}` },
    { name: 'limits', text: device.rollout ? device.rollout.toLowerCase() : 'no plan yet' },
    ...(node?.draining ? [{ name: 'node', text: 'draining: nothing new is placed there' }] : []),
    ...(far ? [{ name: 'beside the mean', text: farText(far) }] : []),
    { name: 'UUID', text: device.uuid, wide: true },
  ];
}

function farText(far) {
  const side = far.fillBasisPoints > far.meanBasisPoints ? 'above' : 'below';
  return `far ${side}: ${full(far.fillBasisPoints)} at the peaks of its ranks, the mean is ${full(far.meanBasisPoints)}`;
}

function makeFact(fact) {
  return element('div', { class: fact.wide ? 'wide' : undefined }, element('dt', {}, fact.name), element('dd'));
}

function updateFact(node, fact) {
  setText(node.children[1], fact.text);
  setAttribute(node.children[1], 'title', fact.title);
}
