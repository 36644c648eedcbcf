// The report on one job: of the data in this file when it is a file of its own, else of what the server tells.
// A plain script and no module, so that it works in a file that was saved.
'use strict';
(() => {
  const UNKNOWN = 'unknown';
  const TOKEN = 'ullage-read-token';
  const AGAIN = 5000;
  const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

  const find = (id) => document.getElementById(id);
  const isKnown = (value) => value !== null && value !== undefined;
  const unless = (value, text) => (isKnown(value) ? text(value) : UNKNOWN);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes ?? {})) {
      made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  // ---- amounts

  const number = (value) =>
    unless(value, (known) =>
      Math.abs(known) >= 1e9 ? known.toExponential(3) : known.toLocaleString('en', { maximumSignificantDigits: 4 }),
    );
  const whole = (value) => unless(value, (known) => known.toLocaleString('en'));
  const percent = (value) => unless(value, (known) => `${(known * 100).toFixed(1)} %`);
  const bytes = (value, unit = '') =>
    unless(value, (known) => {
      let amount = known;
      let place = 0;
      while (amount >= 1024 && place < UNITS.length - 1) {
        amount /= 1024;
        place += 1;
      }
      return `${amount.toFixed(place === 0 ? 0 : 1)} ${UNITS[place]}${unit}`;
    });
  const duration = (value) =>
    unless(value, (millis) => {
      const seconds = millis / 1000;
      if (seconds < 120) {
        return `${seconds.toFixed(1)} s`;
      }
      return seconds < 7200 ? `${(seconds / 60).toFixed(1)} min` : `${(seconds / 3600).toFixed(1)} h`;
    });
  const money = (value, cost) => unless(value, (known) => `${number(known)} ${cost.currency}`);

  // ---- parts

  function facts(root, pairs) {
    root.replaceChildren(
      ...pairs.map(([key, label, text]) => element('div', { 'data-key': key }, element('dt', {}, label), element('dd', {}, text))),
    );
  }

  function place(node, name, part) {
    node.hidden = !Number.isFinite(part);
    node.style.setProperty(name, `${Math.min(100, (part || 0) * 100).toFixed(2)}%`);
  }

  function phaseRow(phase, bar, text) {
    return element('li', { 'data-phase': phase }, element('span', {}, phase), bar, element('span', { class: 'figures' }, text));
  }

  function peaks(root, phases) {
    const most = Math.max(1, ...phases.flatMap((one) => [one.peakBytes, one.limitBytes, one.plannedBytes]).map((value) => value ?? 0));
    root.replaceChildren(
      ...phases.map((one) => {
        const bar = element('div', { class: 'bar' });
        for (const [kind, name, value] of [
          ['used', '--width', one.peakBytes],
          ['limit', '--left', one.limitBytes],
          ['planned', '--left', one.plannedBytes],
        ]) {
          const mark = element('i', { class: kind });
          place(mark, name, isKnown(value) ? value / most : NaN);
          bar.append(mark);
        }
        const planned = isKnown(one.plannedBytes) && one.plannedBytes !== one.limitBytes ? `, plan ${bytes(one.plannedBytes)}` : '';
        return phaseRow(one.phase, bar, `${bytes(one.peakBytes)} of ${bytes(one.limitBytes)}${planned} (rank ${one.rank})`);
      }),
    );
  }

  function times(root, phases) {
    root.replaceChildren(
      ...phases.map((one) => {
        const mark = element('i', { class: 'used' });
        place(mark, '--width', one.share);
        return phaseRow(one.phase, element('div', { class: 'bar' }, mark), `${duration(one.millis)}, ${percent(one.share)}`);
      }),
    );
  }

  let plot;
  function loss(root, points) {
    plot?.destroy();
    plot = undefined;
    root.replaceChildren();
    if (points.length < 2) {
      root.append(element('p', { class: 'muted' }, 'No curve: no rank has reported its loss at two steps or more.'));
      return;
    }
    const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
    plot = new uPlot(
      {
        width: root.clientWidth,
        height: 220,
        cursor: { y: false },
        scales: { x: { time: false } },
        axes: [{ ...axis, size: 30 }, { ...axis, size: 70 }],
        series: [{ label: 'step' }, { label: 'loss', stroke: colour('--used'), width: 2, points: { show: points.length < 40 } }],
      },
      [points.map((point) => point.step), points.map((point) => point.loss)],
      root,
    );
  }

  function table(root, processes) {
    const row = (name, cells) => element('tr', {}, ...cells.map(([text, kind]) => element(name, kind ? { class: kind } : {}, text)));
    const heads = ['rank', ['node', 'text'], ['device', 'text'], ['state', 'text'], 'peak', 'limit', 'used of limit', 'steps', 'steps/s', 'waiting'];
    root.replaceChildren(
      element('thead', {}, row('th', heads.map((head) => (Array.isArray(head) ? head : [head])))),
      element(
        'tbody',
        {},
        ...processes.map((one) =>
          row('td', [
            [`${one.rank}`],
            [one.node, 'text'],
            [one.device, 'text'],
            [one.running ? 'runs' : 'ended', 'text'],
            [bytes(one.peakBytes)],
            [bytes(one.limitBytes)],
            [percent(one.utilisation)],
            [whole(one.steps)],
            [number(one.stepsPerSecond)],
            [percent(one.waitShare)],
          ]),
        ),
      ),
    );
  }

  // ---- the whole

  function about(report) {
    const count = (amount, what) => `${amount} ${what}${amount === 1 ? '' : 's'}`;
    const parts = [
      `${count(report.ranks, 'rank')} on ${count(report.devices, 'device')} of ${count(report.nodes, 'node')}`,
      `began ${duration(report.beganAgoMillis)} ago`,
      report.running ? 'runs' : `ended ${duration(report.endedAgoMillis)} ago`,
    ];
    if (report.silentProcesses > 0) {
      parts.push(`${count(report.silentProcesses, 'process').replace('processs', 'processes')} said nothing`);
    }
    if (report.leftOutProcesses > 0) {
      parts.push(`${report.leftOutProcesses} more are not in these figures`);
    }
    return parts.join('; ');
  }

  function show(report) {
    const { memory, compute, business } = report;
    const cost = business.cost;
    document.title = `Report: ${report.job}`;
    find('job').textContent = report.job;
    find('state').textContent = report.running ? 'running' : 'ended';
    find('report').hidden = false;
    find('about').textContent = about(report);
    facts(find('memory'), [
      ['utilisation', 'Held of what was promised', percent(memory.utilisation)],
      ['fragmentation', 'Fragmentation (highest)', `${percent(memory.fragmentation)} (${percent(memory.highestFragmentation)})`],
      ['allocation', 'An allocation takes', unless(memory.allocationMicros, (micros) => `${number(micros)} us`)],
      ['retries', 'Served after the cache was given back', whole(memory.retries)],
      ['refusals', 'Refused', whole(memory.refusals)],
    ]);
    peaks(find('peaks'), memory.phases);
    facts(find('compute'), [
      ['steps', 'Steps', whole(compute.steps)],
      ['rate', 'Steps per second', number(compute.stepsPerSecond)],
      ['samples', 'Samples (per second)', `${whole(compute.samples)} (${number(compute.samplesPerSecond)})`],
      ['waiting', 'Waiting for memory', percent(compute.waitShare)],
      ['waits', 'For turns, for limits', `${duration(compute.turnWaitMillis)}, ${duration(compute.limitWaitMillis)}`],
      ['flops', 'FLOP per second', number(compute.flopsPerSecond)],
      ['intensity', 'FLOP of a step per byte held', number(compute.flopsPerByte)],
    ]);
    times(find('times'), compute.phases);
    facts(find('business'), [
      ['device-hours', 'Devices in use', duration(business.deviceMillis)],
      ['promised', 'Room promised', bytes(business.promisedByteHours, ' h')],
      ['idle', 'Of that not held', bytes(business.idleByteHours, ' h')],
      ['never-used', 'Of that never used (at least)', bytes(business.neverUsedByteHours, ' h')],
      ...(cost
        ? [
            ['cost', 'Cost by share of memory', money(cost.job, cost)],
            ['cost-step', 'Cost of a step', money(cost.perStep, cost)],
            ['cost-idle', 'Cost of room not held, never used', `${money(cost.idle, cost)}, ${money(cost.neverUsed, cost)}`],
            ['cost-whole', 'Cost had the devices been its alone', money(cost.wholeDevices, cost)],
          ]
        : [['cost', 'Cost', 'unknown: no price is set (ullage.http.report.device-hour-price)']]),
      ...(business.lossesLeftOut > 0 ? [['left-out', 'Losses that were no number', whole(business.lossesLeftOut)]] : []),
    ]);
    loss(find('loss'), business.loss);
    table(find('processes'), report.processes);
  }

  function complain(text) {
    find('notice').hidden = !text;
    find('notice').textContent = text ?? '';
  }

  async function load(job) {
    const token = sessionStorage.getItem(TOKEN);
    const response = await fetch(`/api/v1/report?job=${encodeURIComponent(job)}`, {
      cache: 'no-store',
      headers: token ? { Authorization: `Bearer ${token}` } : {},
    });
    const answer = await response.json();
    if (response.ok) {
      complain();
      show(answer);
      return answer.running;
    }
    if (response.status === 401) {
      sessionStorage.removeItem(TOKEN);
      find('token-form').hidden = false;
    }
    throw Object.assign(new Error(answer.detail ?? `HTTP ${response.status}`), { isFinal: response.status === 401 });
  }

  async function follow(job) {
    let again = true;
    try {
      again = await load(job);
    } catch (failure) {
      find('state').textContent = 'no answer';
      complain(String(failure.message ?? failure));
      again = !failure.isFinal;
    }
    if (again) {
      setTimeout(() => follow(job), AGAIN);
    }
  }

  const own = find('data');
  if (own) {
    show(JSON.parse(own.textContent));
  } else {
    const job = decodeURIComponent(location.pathname.replace(/^\/report\//, ''));
    find('token-form').addEventListener('submit', (event) => {
      event.preventDefault();
      sessionStorage.setItem(TOKEN, find('token').value);
      find('token-form').hidden = true;
      follow(job);
    });
    follow(job);
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => location.protocol !== 'file:' && location.reload());
})();
