// What the hosts of nodes have beside their devices, and what jobs with reserved room asked of it.

import { element, follow, setAttribute, setText } from './dom.js';
import { UNKNOWN, cores, count, exact, gib, isKnown } from './format.js';
import { rowsTable } from './table.js';

const MAX_HOSTS = 100;
const COLUMNS = [
  ['node', 'Node'],
  ['cpus', 'Processors'],
  ['cpus-asked', 'Asked for'],
  ['memory', 'Memory'],
  ['memory-asked', 'Asked for'],
  ['available', 'Available now'],
];

export class HostsPanel {
  constructor(section, root, note) {
    this.section = section;
    this.note = note;
    this.rows = element('tbody', { role: 'rowgroup' });
    const heads = COLUMNS.map(([name, text]) => element('th', { scope: 'col', role: 'columnheader', class: name }, text));
    this.table = rowsTable('Processors and memory of hosts', heads, this.rows);
    this.rest = element('p', { class: 'muted small' });
    root.replaceChildren(this.table, this.rest);
  }

  render(model) {
    const known = [...model.nodes.keys()].sort().flatMap((node) => {
      const host = model.hosts.get(node);
      return host ? [{ node, ...host }] : [];
    });
    const silent = model.nodes.size - known.length;
    this.section.hidden = known.length === 0;
    setText(this.note, `Nothing holds a rank to what it asked for.${silent > 0 ? ` ${count(silent, 'node')} not known.` : ''}`);
    const shown = inOrder(known).slice(0, MAX_HOSTS);
    follow(this.rows, shown, (host) => host.node, make, update);
    const left = known.length - shown.length;
    setText(this.rest, left > 0 ? `and ${left.toLocaleString('en')} more, with less asked of them: "ullage status" lists all` : '');
    this.rest.hidden = left <= 0;
  }
}

/** Where there are more than are shown, those of which most is asked. */
function inOrder(hosts) {
  if (hosts.length <= MAX_HOSTS) {
    return hosts;
  }
  const part = (asked, all) => (isKnown(asked) && all > 0 ? asked / all : 0);
  const fill = (host) => Math.max(part(host.askedCpuMilli, host.cpuMilli), part(host.askedMemoryBytes, host.memoryBytes));
  return [...hosts].sort((a, b) => fill(b) - fill(a));
}

function make(host) {
  const cells = COLUMNS.map(([name, text]) => {
    const isHead = name === 'node';
    const attributes = { class: name, role: isHead ? 'rowheader' : 'cell', scope: isHead ? 'row' : null, 'data-label': text };
    return element(isHead ? 'th' : 'td', attributes, element('span', {}, isHead ? host.node : null));
  });
  return element('tr', { role: 'row' }, ...cells);
}

function update(row, host) {
  const [, cpus, cpusAsked, memory, memoryAsked, available] = row.children;
  put(cpus, cores(host.cpuMilli));
  put(cpusAsked, asked(host.askedCpuMilli, cores));
  put(memory, gib(host.memoryBytes), exact(host.memoryBytes));
  put(memoryAsked, asked(host.askedMemoryBytes, gib), exact(host.askedMemoryBytes));
  put(available, gib(host.availableBytes), exact(host.availableBytes));
}

function asked(amount, text) {
  if (!isKnown(amount)) {
    return UNKNOWN;
  }
  return amount === 0 ? 'nothing' : text(amount);
}

function put(cell, text, title) {
  const content = cell.firstElementChild;
  setText(content, text);
  setAttribute(content, 'title', title);
}
