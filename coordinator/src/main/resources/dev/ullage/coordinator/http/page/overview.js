// The first line of figures: the whole cluster at a glance.

import { element, follow, setAttribute, setText } from './dom.js';
import { UNKNOWN, count, exact, gib, isKnown, percent } from './format.js';

export function renderOverview(root, model) {
  const totals = model.totals();
  const memory = (key, name, bytes, note) => ({ key, name, value: gib(bytes), title: exact(bytes), note });
  const trouble = (key, name, number) => ({
    key,
    name,
    value: String(number),
    note: number === 1 ? 'device' : 'devices',
    state: number > 0 ? 'bad' : 'good',
  });
  const queue = model.queue;
  const cards = [
    memory('capacity', 'Capacity', totals.capacity, `${count(totals.devices, 'device')}, ${count(totals.nodes, 'node')}`),
    memory('promised', 'Promised', totals.promised, `${percent(totals.promised, totals.capacity)}, ${count(totals.ranks, 'rank')}`),
    memory('used', 'Used', totals.used, percent(totals.used, totals.capacity)),
    memory('reserve', 'Reserve kept', totals.reserve, percent(totals.reserve, totals.capacity)),
    {
      key: 'waiting',
      name: 'Waiting',
      value: queue ? queue.waiting.toLocaleString('en') : UNKNOWN,
      note: !queue ? 'jobs' : queue.lost > 0 ? `jobs; ${queue.lost} lost room` : queue.waiting === 1 ? 'job for room' : 'jobs for room',
      state: queue?.lost > 0 ? 'warn' : null,
      target: 'queue',
    },
    trouble('over', 'Over budget', totals.over),
    trouble('stalled', 'Stalled', totals.stalled),
    trouble('lost', 'Lost', totals.lost),
    trouble('stale', 'Stale', totals.stale),
    {
      key: 'uneven',
      name: 'Uneven',
      value: isKnown(totals.uneven) ? totals.uneven.toLocaleString('en') : UNKNOWN,
      note: totals.uneven === 1 ? 'job' : 'jobs',
      state: totals.uneven > 0 ? 'bad' : totals.uneven === 0 ? 'good' : null,
      target: 'evenness',
    },
  ];
  follow(root, cards, (card) => card.key, make, update);
}

function make(card) {
  return element(
    'div',
    { class: 'card', 'data-key': card.key },
    element('dt', {}, card.target ? linkTo(card) : card.name),
    element('dd', { class: 'value' }),
    element('dd', { class: 'note' }),
  );
}

/** To a section of the page; the address stays, because it says what is open. */
function linkTo({ name, target }) {
  const go = () => {
    const section = document.getElementById(target);
    section.scrollIntoView({ block: 'start' });
    section.focus({ preventScroll: true });
  };
  return element('button', { type: 'button', class: 'plain', onclick: go }, name);
}

function update(node, card) {
  const [, value, note] = node.children;
  setText(value, card.value);
  setAttribute(value, 'title', card.title);
  setText(note, card.note);
  setAttribute(note, 'title', card.note);
  setAttribute(node, 'data-state', card.state);
}
