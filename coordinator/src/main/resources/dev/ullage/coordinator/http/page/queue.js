// Who waits for room, what for, and when it may be there; who is being placed, put to the end, or has lost its room.

import { element, follow, setAttribute, setText } from './dom.js';
import { UNKNOWN, clock, count, duration, isKnown } from './format.js';
import { rowsTable } from './table.js';

const ON_THEIR_WAY = ['lost', 'requeued', 'placing'];
const COLUMNS = [
  ['position', '#', 'Position'],
  ['named', 'Job'],
  ['priority', 'Priority'],
  ['wants', 'Asks for'],
  ['waited', 'Waited'],
  ['waits-for', 'Waits for'],
  ['starts', 'May start'],
  ['state', 'State'],
];
// What is meant where the coordinator says nothing more.
const MEANS = {
  lost: 'nothing',
  requeued: 'what runs of it to end',
};

export class QueuePanel {
  constructor(root, note, onJob) {
    this.note = note;
    this.onJob = onJob;
    this.rows = element('tbody', { role: 'rowgroup' });
    const heads = COLUMNS.map(([name, text, long]) =>
      element('th', { scope: 'col', role: 'columnheader', class: name, title: long, 'aria-label': long }, text),
    );
    this.table = rowsTable('Jobs that wait for room', heads, this.rows);
    this.rest = element('p', { class: 'muted small' });
    root.replaceChildren(this.table, this.rest);
  }

  render(model, now) {
    const queue = model.queue;
    setText(this.note, queue ? summary(queue) : unknownText(model));
    const items = queue ? inOrder(queue.items) : [];
    this.table.hidden = items.length === 0;
    const passed = model.serverNow(now) - model.queueAt;
    const render = (row, item) => updateRow(row, item, passed, now);
    follow(this.rows, items, (item) => item.job, (item) => this.make(item), render);
    const left = queue ? leftOut(queue) : 0;
    setText(this.rest, left > 0 ? `and ${left.toLocaleString('en')} more: "ullage jobs" lists all` : '');
    this.rest.hidden = left <= 0;
  }

  make(item) {
    const job = element('button', { type: 'button', class: 'plain name', onclick: () => this.onJob(item.job) }, item.job);
    setAttribute(job, 'title', item.job);
    const cells = COLUMNS.map(([name, text]) => {
      const isHead = name === 'named';
      const attributes = { class: name, role: isHead ? 'rowheader' : 'cell', scope: isHead ? 'row' : null, 'data-label': text };
      const content = isHead ? [job] : [element('span'), element('span', { class: 'muted small' })];
      return element(isHead ? 'th' : 'td', attributes, ...content);
    });
    return element('tr', { role: 'row' }, ...cells);
  }
}

function updateRow(row, item, passed, now) {
  const [position, , priority, wants, waited, waitsFor, starts, state] = row.children;
  setAttribute(row, 'data-state', item.state);
  put(position, isKnown(item.position) ? String(item.position) : '-');
  put(priority, item.priority);
  put(wants, item.wants);
  put(waited, duration(item.waitedMillis + passed));
  put(waitsFor, item.waitsFor ?? MEANS[item.state] ?? UNKNOWN, item.notes.join('; '));
  put(starts, ...estimate(item, passed, now));
  put(state, item.state);
}

function put(cell, text, more = '') {
  const [main, small] = cell.children;
  setText(main, text);
  setText(small, more);
}

/** When it may start, and what that rests on; or why it is not known. */
export function estimate(item, passed, now) {
  if (isKnown(item.startsInMillis)) {
    const left = item.startsInMillis - passed;
    return [left < 1000 ? 'any moment' : `in ${duration(left)}, ${clock(now + left, now)}`, `by ${item.basis}`];
  }
  return item.state === 'waiting' ? [UNKNOWN, item.basis ?? ''] : ['-', item.basis ?? ''];
}

/** First those that something happens to, then those that wait, in their order. */
function inOrder(items) {
  const place = (item) => ON_THEIR_WAY.indexOf(item.state);
  const others = items.filter((item) => place(item) >= 0).sort((a, b) => place(a) - place(b));
  return [...others, ...items.filter((item) => place(item) < 0)];
}

function summary(queue) {
  const parts = [];
  const add = (number, one, many) => number > 0 && parts.push(`${number.toLocaleString('en')} ${number === 1 ? one : many}`);
  add(queue.waiting, 'waits', 'wait');
  add(queue.placing, 'is being placed', 'are being placed');
  add(queue.requeued, 'is to end and wait again', 'are to end and wait again');
  add(queue.lost, 'runs without its room', 'run without their room');
  const rooms = queue.placed > 0 ? `${count(queue.placed, 'job')} ${queue.placed === 1 ? 'has its' : 'have their'} room` : '';
  const all = [...(parts.length > 0 ? parts : ['No job waits for room']), ...(rooms ? [rooms] : [])];
  return `${all.join(', ')}.`;
}

/** Whether there are requests that the stream does not name. */
export const hasOthers = (queue) => queue.placed > 0 || leftOut(queue) > 0;

function leftOut(queue) {
  return queue.waiting + queue.placing + queue.requeued + queue.lost - queue.items.length;
}

function unknownText(model) {
  return model.coordinator?.state === 'ACTIVE'
    ? 'Not known: the coordinator does not say it. It may be an older one.'
    : 'Not known until a coordinator plans.';
}
