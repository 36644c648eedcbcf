// Lines over time with uPlot: limit, ceiling, used; the phases of a rank as bands behind them.

import uPlot from './uplot.js';
import { element } from './dom.js';
import { gib } from './format.js';

const GIB = 2 ** 30;
const HEIGHT = 150;
const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].map((n) => n * GIB);

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** lines: [{ label, colour: '--name', dash }], in the order of the data after the times. */
export class Chart {
  constructor(label, lines) {
    this.lines = lines;
    this.phases = [];
    this.root = element('div', { class: 'chart', role: 'img', 'aria-label': label });
    this.data = [[], ...lines.map(() => [])];
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.root);
    this.scheme = matchMedia('(prefers-color-scheme: dark)');
    this.onScheme = () => this.draw();
    this.scheme.addEventListener('change', this.onScheme);
  }

  set(data, phases = []) {
    this.root.dataset.points = data[0].length;
    this.data = data;
    this.phases = phases;
    this.plot?.setData(data);
  }

  close() {
    this.observer.disconnect();
    this.scheme.removeEventListener('change', this.onScheme);
    this.plot?.destroy();
    this.root.remove();
  }

  resize() {
    if (this.plot) {
      this.plot.setSize({ width: this.root.clientWidth, height: HEIGHT });
    } else if (this.root.clientWidth > 0) {
      this.draw();
    }
  }

  draw() {
    this.plot?.destroy();
    const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
    this.plot = new uPlot(
      {
        width: this.root.clientWidth,
        height: HEIGHT,
        cursor: { y: false, points: { size: 5 } },
        legend: { live: true },
        scales: { y: { range: (plot, min, max) => [0, Math.max(max ?? 0, GIB / 1024) * 1.08] } },
        axes: [
          { ...axis, space: 80, size: 24, values: (plot, ticks) => ticks.map(clock) },
          { ...axis, size: 62, space: 24, incrs: STEPS, values: (plot, ticks) => ticks.map((bytes) => short(bytes)) },
        ],
        series: [{ label: 'time', value: (plot, time) => (time === null ? '' : clock(time)) }, ...this.lines.map((line) => series(line))],
        hooks: { drawClear: [(plot) => this.bands(plot)] },
      },
      this.data,
      this.root,
    );
  }

  /** One rectangle for each stretch of the same phase. */
  bands(plot) {
    const times = this.data[0];
    const { left, top, width, height } = plot.bbox;
    const context = plot.ctx;
    context.save();
    for (let start = 0; start < this.phases.length; ) {
      const phase = this.phases[start];
      let end = start + 1;
      while (end < this.phases.length && this.phases[end] === phase) {
        end += 1;
      }
      if (phase) {
        const from = Math.max(left, plot.valToPos(times[start], 'x', true));
        const to = plot.valToPos(times[Math.min(end, times.length - 1)], 'x', true);
        context.fillStyle = colour(`--phase-${phase.toLowerCase()}`) || 'transparent';
        context.fillRect(from, top, Math.min(to, left + width) - from, height);
      }
      start = end;
    }
    context.restore();
  }
}

function series(line) {
  return {
    label: line.label,
    stroke: colour(line.colour),
    width: line.dash ? 1.5 : 2,
    dash: line.dash,
    fill: line.fill ? colour(line.fill) : undefined,
    points: { show: false },
    value: (plot, bytes) => (bytes === null || bytes === undefined ? '' : gib(bytes)),
  };
}

const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString('en-GB');

function short(bytes) {
  const amount = bytes / GIB;
  return amount >= 1 || amount === 0 ? `${Number(amount.toFixed(1))} GiB` : `${Math.round(amount * 1024)} MiB`;
}
