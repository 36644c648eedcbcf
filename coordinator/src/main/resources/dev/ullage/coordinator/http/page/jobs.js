// The list of all jobs that have ranks.

import { element, follow, setAttribute, setText } from './dom.js';
import { count, exact, gib, sum } from './format.js';
import { skew } from './model.js';

const MAX_JOBS = 100;

export function renderJobs(root, rest, model, onSelect) {
  const jobs = model.jobs.slice(0, MAX_JOBS);
  follow(root, jobs, (job) => job.job, (job) => makeJob(job, onSelect), (node, job) => updateJob(node, job, model));
  const left = model.jobs.length - jobs.length;
  setText(rest, jobs.length === 0 ? 'No rank is known.' : left > 0 ? `and ${left} more: "ullage jobs" lists all` : '');
  rest.hidden = rest.textContent === '';
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

function updateJob(node, job, model) {
  const [name, ranks, memory] = node.children;
  const used = sum(job.ranks.map((rank) => rank.usedBytes));
  const promised = sum(job.ranks.map((rank) => rank.ceilingBytes));
  setText(name, job.job);
  const uneven = model.evennessOf(job.job)?.uneven ? ', uneven' : '';
  setText(ranks, `${count(job.ranks.length, 'rank')}${skewText(job.ranks)}${uneven}`);
  setText(memory, `${gib(used)} used of ${gib(promised)}`);
  setAttribute(memory, 'title', `${exact(used)} of ${exact(promised)}`);
}

function skewText(ranks) {
  const value = skew(ranks);
  return value === null || ranks.length < 2 ? '' : `, skew now ${value.toFixed(2)}`;
}
