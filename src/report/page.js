/* Draws the plots of a report from the data beside them, and lets one point, zoom and choose. */
class Plot {
  constructor(figure) {
    const data = JSON.parse(figure.querySelector('.data').textContent);
    this.figure = figure;
    this.data = data;
    this.canvas = figure.querySelector('canvas');
    this.tip = figure.querySelector('.tip');
    this.leftOut = figure.querySelector('.left-out');
    this.rows = values(data.rows);
    this.count = this.rows.length;
    this.markRows = values(data.landmarks);
    this.pathRows = values(data.path);
    this.axes = data.components.map(c => ({ title: c.title, axis: c.axis, values: values(c.values),
      marks: values(c.landmarks), path: values(c.path) }));
    this.axes.push({ title: 'row', axis: [-0.04 * data.n, 1.04 * Math.max(data.n - 1, 1)], values: this.rows,
      marks: this.markRows, path: this.pathRows });
    this.tints = [{ name: 'density' }, ...data.tints, ...data.components.map((c, k) =>
      ({ name: `component ${k + 1}`, axis: c.axis, of: k }))];
    for (const tint of this.tints) {
      if (tint.classes) tint.code = codes(tint.codes);
      else if (tint.of !== undefined) tint.number = this.axes[tint.of].values;
      else if (tint.values) tint.number = values(tint.values);
      tint.hidden = new Set();
    }
    this.x = data.components.length > 1 ? 0 : this.axes.length - 1;
    this.y = data.components.length > 1 ? 1 : 0;
    this.tint = this.tints.length > 1 && (this.tints[1].classes || this.tints[1].name === 'label') ? 1 : 0;
    this.hover = -1;
    this.layers = new Map();
    // A fixed order without any class on top.
    this.order = Uint32Array.from({ length: this.count }, (_, i) => i);
    for (let i = this.count - 1, seed = 1; i > 0; i--) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      const j = seed % (i + 1), kept = this.order[i];
      this.order[i] = this.order[j];
      this.order[j] = kept;
    }
    this.fillControls();
    this.home();
    this.listen();
    this.loadRaster();
  }

  fillControls() {
    const find = name => this.figure.querySelector('.' + name);
    const choose = (select, names, at, set) => {
      names.forEach((name, k) => select.add(new Option(name, k, false, k === at)));
      select.addEventListener('change', () => { set(+select.value); this.draw(); });
    };
    const names = this.axes.map(a => a.title.split(':')[0]);
    choose(find('across'), names, this.x, k => { this.x = k; this.home(); });
    choose(find('upwards'), names, this.y, k => { this.y = k; this.home(); });
    choose(find('tint'), this.tints.map(t => t.name), this.tint, k => { this.tint = k; });
    this.points = find('points');
    this.marks = find('marks');
    this.path = find('path');
    for (const box of [this.points, this.marks, this.path]) box.addEventListener('change', () => this.draw());
    this.marks.parentNode.hidden = this.markRows.length === 0;
    this.path.parentNode.hidden = this.axes[0].path.every(Number.isNaN);
    find('in').addEventListener('click', () => this.zoom(1 / 1.5));
    find('out').addEventListener('click', () => this.zoom(1.5));
    find('whole').addEventListener('click', () => { this.whole(); this.draw(); });
  }

  // The axes as at first, which may leave out points that are far from all others.
  home() {
    this.seen = this.view = { x: [...this.axes[this.x].axis], y: [...this.axes[this.y].axis], whole: false };
    this.hide();
  }

  // All points; where all are in view, the axes as at first.
  whole() {
    const { whole } = this.view;
    this.home();
    if (!whole) this.view = { x: this.widest(this.x), y: this.widest(this.y), whole: true };
  }

  // The axis, as far as the farthest of its values.
  widest(k) {
    const { axis, values, marks, path } = this.axes[k];
    const [low, high] = ends([...axis, ...values, ...marks, ...path]), margin = 0.04 * (high - low);
    return [low < axis[0] ? low - margin : low, high > axis[1] ? high + margin : high];
  }

  // The raster is a grey image, or two: how many points a cell has, and which colour most of them.
  async loadRaster() {
    const r = this.data.raster;
    if (r?.color) r.colors = await pixels(r.color);
    if (r) r.levels = await pixels(r.level);
    this.figure.dataset.ready = 'yes';
    this.draw();
  }

  // What is known of all rows: for the first two components alone.
  raster() {
    return this.x === 0 && this.y === 1 ? this.data.raster : null;
  }

  // The raster in colours, for the tint, the theme, and its classes that are shown.
  layer(r) {
    const tint = this.tints[this.tint], byClass = tint.classes && r.colors && tint === this.tints[1];
    const key = [byClass ? [...tint.hidden].join() || 'class' : this.tint ? 'grey' : 'amount', isDark()].join('|');
    if (this.layers.has(key)) return this.layers.get(key);
    const { width, height, data } = r.levels, image = new ImageData(width, height), out = image.data;
    const ramp = Array.from({ length: 256 }, (_, k) => amount((k - 1) / 254));
    const shown = CLASSES.map((_, slot) => byClass && tint.classes.some((_, k) => k % CLASSES.length === slot && !tint.hidden.has(k)));
    for (let i = 0; i < width * height; i++) {
      const level = data[4 * i];
      if (!level) continue;
      const slot = byClass ? r.colors.data[4 * i] - 1 : 0;
      if (byClass && (slot < CLASSES.length ? !shown[slot] : tint.hidden.has(-1))) continue;
      const color = byClass ? rgb(classColor(slot < CLASSES.length ? slot : -1)) : this.tint ? [128, 128, 136] : ramp[level];
      out.set(color, 4 * i);
      const faint = byClass ? (isDark() ? 150 : 70) : isDark() ? 110 : 40, full = byClass ? 255 : 180;
      out[4 * i + 3] = byClass || this.tint ? faint + (full - faint) * (level - 1) / 254 : 255;
    }
    const canvas = new OffscreenCanvas(width, height);
    canvas.getContext('2d').putImageData(image, 0, 0);
    if (this.layers.size > 12) this.layers.clear();
    this.layers.set(key, canvas);
    return canvas;
  }

  // Says in the caption what is not seen: of points that are all drawn, in this view.
  tellLeftOut() {
    const all = this.count === this.data.n, pair = this.raster(), { x, y } = this.seen;
    let { outside, missing } = pair && !all ? pair : { outside: 0, missing: 0 };
    for (let i = 0; i < this.count && (all || !pair); i++) {
      const a = this.axes[this.x].values[i], b = this.axes[this.y].values[i];
      if (Number.isNaN(a + b)) missing++;
      else if (a < x[0] || a > x[1] || b < y[0] || b > y[1]) outside++;
    }
    const of = all || pair ? '' : ' of them'; // other rows are not known
    this.leftOut.textContent = (outside ? `; ${grouped(outside)}${of} outside the axes` : '')
      + (missing ? `; ${grouped(missing)}${of} without a place` : '');
  }

  // Sets the box within the axes. Its left side depends on how long the numbers beside it are.
  setBox(g, wide, high)
  {
      this.seen = {x : [...this.view.x], y : [...this.view.y]}; // keepScale() widens these alone
      this.box = {top : MARGIN.top, height : high - MARGIN.top - MARGIN.bottom};
      g.font = FONT;
      for (let times = 0; times < 2; times++) { // the second time by the numbers that are seen
          this.box.left = Math.max(
              58, ...this.upwards().map(t => MARGIN.left + Math.ceil(g.measureText(t.text).width)));
          this.box.width = wide - this.box.left - MARGIN.right;
          this.keepScale();
      }
  }

  upwards()
  {
      return ticks(...this.seen.y, Math.max(this.box.height / 60, 2));
  }

  // Fewer where their texts would touch.
  across(g) {
    for (let wanted = Math.max(this.box.width / 90, 2);; wanted /= 1.5) {
      const list = ticks(...this.seen.x, wanted), widest = Math.max(...list.map(t => g.measureText(t.text).width));
      if (list.length < 2 || this.px(list[1].at) - this.px(list[0].at) > widest + 10) return list;
    }
  }

  // Widens what is seen of one of the axes, so that both have one scale where the map's coordinates are distances.
  keepScale() {
    const { x, y } = this.seen, { width, height } = this.box, last = this.data.components.length;
    if (this.data.metric && this.x < last && this.y < last) {
      const unit = Math.max((x[1] - x[0]) / width, (y[1] - y[0]) / height);
      for (const [range, length] of [[x, width], [y, height]]) {
        const middle = (range[0] + range[1]) / 2;
        [range[0], range[1]] = [middle - unit * length / 2, middle + unit * length / 2];
      }
    }
    this.canvas.dataset.scales = [(x[1] - x[0]) / width, (y[1] - y[0]) / height].join(); // of a pixel
  }

  px(x) { return this.box.left + (x - this.seen.x[0]) / (this.seen.x[1] - this.seen.x[0]) * this.box.width; }
  py(y) { return this.box.top + (this.seen.y[1] - y) / (this.seen.y[1] - this.seen.y[0]) * this.box.height; }

  draw() {
    const ratio = devicePixelRatio || 1, wide = this.canvas.clientWidth, high = this.canvas.clientHeight;
    if (!wide) return;
    this.canvas.width = Math.round(wide * ratio);
    this.canvas.height = Math.round(high * ratio);
    const g = this.canvas.getContext('2d');
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.setBox(g, wide, high);
    this.tellLeftOut();
    this.drawAxes(g, wide, high);
    g.save();
    g.beginPath();
    g.rect(this.box.left, this.box.top, this.box.width, this.box.height);
    g.clip();
    this.drawRaster(g);
    if (this.points.checked) this.drawPoints(g);
    if (this.marks.checked) this.drawMarks(g);
    if (this.path.checked) this.drawPath(g);
    this.drawHover(g);
    g.restore();
    this.drawKey();
  }

  drawAxes(g, wide, high) {
    const style = printing ? { getPropertyValue: n => n === '--grid' ? '#ddd' : '#333' } : getComputedStyle(this.figure);
    const { left, top, width, height } = this.box;
    g.font = FONT;
    g.lineWidth = 1;
    g.strokeStyle = style.getPropertyValue('--grid');
    g.fillStyle = style.getPropertyValue('--soft');
    g.textAlign = 'center';
    g.textBaseline = 'top';
    for (const { at, text } of this.across(g)) {
      const half = g.measureText(text).width / 2;
      g.beginPath(); g.moveTo(this.px(at), top); g.lineTo(this.px(at), top + height); g.stroke();
      g.fillText(text, Math.min(this.px(at), wide - half - 2), top + height + 5);
    }
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    for (const { at, text } of this.upwards()) {
        g.beginPath();
        g.moveTo(left, this.py(at));
        g.lineTo(left + width, this.py(at));
        g.stroke();
        g.fillText(text, left - 5, this.py(at));
    }
    g.textAlign = 'center';
    g.textBaseline = 'bottom';
    g.fillText(this.axes[this.x].title, left + width / 2, high - 2, width);
    g.save();
    g.translate(2, top + height / 2);
    g.rotate(-Math.PI / 2);
    g.textBaseline = 'top';
    g.fillText(this.axes[this.y].title, 0, 0, height);
    g.restore();
  }

  drawRaster(g) {
    const found = this.raster();
    if (!found?.levels || this.count === this.data.n && this.points.checked) return;
    const [x, y] = [this.axes[0].axis, this.axes[1].axis], left = this.px(x[0]), top = this.py(y[1]);
    g.save();
    g.imageSmoothingEnabled = false;
    g.drawImage(this.layer(found), left, top, this.px(x[1]) - left, this.py(y[0]) - top);
    g.restore();
  }

  look(i) { // colour, shape; null: not shown
    const tint = this.tints[this.tint];
    if (tint.classes) {
      const k = tint.code[i] === NONE ? -1 : tint.code[i];
      return tint.hidden.has(k) ? null : [classColor(k), k < 0 ? 0 : shapeOf(k)];
    }
    if (!tint.number) return [isDark() ? '#56b4e9' : '#0072b2', 0];
    if (Number.isNaN(tint.number[i])) return tint.hidden.has(-1) ? null : [classColor(-1), 0];
    return [css(viridis((tint.number[i] - tint.axis[0]) / (tint.axis[1] - tint.axis[0]))), 0];
  }

  drawPoints(g) {
    const x = this.axes[this.x].values, y = this.axes[this.y].values;
    const all = this.count === this.data.n;
    const radius = Math.min(6, this.box.width / 110, Math.max(all ? 2.2 : 1.8, 150 / Math.sqrt(this.count)));
    g.globalAlpha = all ? 0.85 : 0.7;
    g.lineWidth = 0.6;
    g.strokeStyle = isDark() ? '#101114' : '#ffffff';
    for (const i of this.order) {
      const how = this.look(i), px = this.px(x[i]), py = this.py(y[i]);
      if (!how || !(px > -9 && py > -9 && px < 9e3 && py < 9e3)) continue;
      g.beginPath();
      shape(g, how[1], px, py, radius);
      g.fillStyle = how[0];
      g.fill();
      if (radius > 2) g.stroke();
    }
    g.globalAlpha = 1;
  }

  drawMarks(g) {
    const x = this.axes[this.x].marks, y = this.axes[this.y].marks;
    g.fillStyle = isDark() ? '#ffffff' : '#000000';
    g.strokeStyle = isDark() ? '#000000' : '#ffffff';
    g.lineWidth = 0.7;
    for (let i = 0; i < x.length; i++) {
      g.beginPath();
      shape(g, 4, this.px(x[i]), this.py(y[i]), x.length > 300 ? 3 : 5);
      g.fill();
      g.stroke();
    }
  }

  drawPath(g) { // a line with a margin, so that it is seen on any colour; rows are told at its ends
    const x = this.axes[this.x].path, y = this.axes[this.y].path, last = x.length - 1;
    const [ink, paper] = isDark() ? ['#ffffff', '#000000'] : ['#000000', '#ffffff'], line = new Path2D(), ends = new Path2D();
    for (let i = 0; i <= last; i++) line.lineTo(this.px(x[i]), this.py(y[i])); // NaN: not drawn
    for (const i of new Set([0, last])) if (last >= 0) shape(ends, 0, this.px(x[i]), this.py(y[i]), 5);
    for (const [width, color] of [[5, paper], [2, ink]]) {
      g.lineWidth = width;
      g.strokeStyle = color;
      g.lineJoin = 'round';
      g.stroke(line);
    }
    g.fillStyle = ink;
    g.fill(ends);
    g.lineWidth = 3;
    g.strokeStyle = paper;
    g.textAlign = 'left';
    g.textBaseline = 'bottom';
    g.font = 'bold 13px system-ui, sans-serif';
    for (const i of new Set([0, last])) {
      if (last < 0) continue;
      const text = `row ${this.pathRows[i]}`, fits = this.px(x[i]) + 7 + g.measureText(text).width <= this.box.left + this.box.width;
      g.textAlign = fits ? 'left' : 'right'; // to the left of its point where the edge would cut it
      g.strokeText(text, this.px(x[i]) + (fits ? 7 : -7), this.py(y[i]) - 5);
      g.fillText(text, this.px(x[i]) + (fits ? 7 : -7), this.py(y[i]) - 5);
    }
  }

  drawHover(g) {
    if (this.hover < 0) return;
    g.beginPath();
    g.arc(this.px(this.axes[this.x].values[this.hover]), this.py(this.axes[this.y].values[this.hover]), 8, 0, 2 * Math.PI);
    g.lineWidth = 3;
    g.strokeStyle = isDark() ? '#ffffff' : '#000000';
    g.stroke();
  }

  drawKey() {
    const key = this.figure.querySelector('.key'), tint = this.tints[this.tint];
    const found = this.raster(), state = [this.tint, isDark(), tint.hidden.size, this.x, this.y, !!found].join();
    if (key.dataset.state === state) return;
    key.dataset.state = state;
    key.replaceChildren();
    if (tint.classes) {
      tint.classes.slice(0, 60).forEach((name, k) => this.addEntry(key, k, name, tint.sizes[k]));
      if (tint.classes.length > 60) key.append(`and ${tint.classes.length - 60} more`);
      const none = this.data.n - tint.sizes.reduce((sum, rows) => sum + rows, 0);
      if (none) this.addEntry(key, -1, 'others', none);
      return;
    }
    if (tint.axis) this.addScale(key, tint);
    else if (found && this.count < this.data.n) addRamp(key, amount, '1', `${grouped(found.most)} points a cell (logarithmic)`);
  }

  addEntry(key, k, name, rows, of = '') { // a class, which it hides and shows; -1: none
    const { hidden } = this.tints[this.tint], button = document.createElement('button');
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path'), steps = [];
    const pen = { moveTo: (a, b) => steps.push(`M${a} ${b}`), lineTo: (a, b) => steps.push(`L${a} ${b}`),
      closePath: () => steps.push('Z'), arc: (a, b, r) => steps.push(`a${r} ${r} 0 1 1 ${-2 * r} 0a${r} ${r} 0 1 1 ${2 * r} 0`) };
    shape(pen, k < 0 ? 0 : shapeOf(k), 8, 8, 5.5);
    svg.setAttribute('viewBox', '0 0 16 16');
    svg.setAttribute('aria-hidden', 'true');
    path.setAttribute('d', steps.join(''));
    path.setAttribute('fill', classColor(k));
    svg.append(path);
    button.type = 'button';
    button.append(svg, name);
    button.title = `${grouped(rows)} row${rows === 1 ? '' : 's'}${of}`;
    button.setAttribute('aria-pressed', String(!hidden.has(k)));
    button.addEventListener('click', () => {
      const place = [...key.children].indexOf(button);
      if (!hidden.delete(k)) hidden.add(k);
      key.dataset.state = '';
      this.layers.clear();
      this.draw();
      key.children[place].focus();
    });
    key.append(button);
  }

  // The least and the most of the values that are drawn; the ends of the colours, where some are beyond.
  addScale(key, { axis, number }) {
    const [least, most] = ends(number), low = Math.max(least, axis[0]), high = Math.min(most, axis[1]);
    const at = v => (v - axis[0]) / (axis[1] - axis[0]);
    if (least <= most)
      addRamp(key, t => viridis(at(low) + t * (at(high) - at(low))), short(low) + (least < low ? ' or less' : ''),
        short(high) + (most > high ? ' or more' : ''));
    const none = number.filter((v, i) => Number.isNaN(v) && !Number.isNaN(this.axes[0].values[i])).length;
    if (none) this.addEntry(key, -1, 'none', none, this.count < this.data.n ? ' of those that can be pointed at' : '');
  }

  // ---- moving ------------------------------------------------------------------------------

  zoom(factor, x = 0.5, y = 0.5) { // about a place in the box
    this.view = { x: [...this.seen.x], y: [...this.seen.y], whole: false };
    for (const [range, at] of [[this.view.x, x], [this.view.y, 1 - y]]) {
      const middle = range[0] + at * (range[1] - range[0]), next = range.map(v => middle + (v - middle) * factor);
      if (next[1] - next[0] > 1e-12 * Math.max(Math.abs(next[0]), Math.abs(next[1]))) [range[0], range[1]] = next;
    }
    this.hide();
    this.draw();
  }

  move(dx, dy) { // in boxes
    const { x, y } = this.seen, wide = x[1] - x[0], high = y[1] - y[0];
    this.view = { x: x.map(v => v - dx * wide), y: y.map(v => v + dy * high), whole: false };
    this.hide();
    this.draw();
  }

  place(event) {
    const r = this.canvas.getBoundingClientRect();
    return [(event.clientX - r.left - this.box.left) / this.box.width, (event.clientY - r.top - this.box.top) / this.box.height];
  }

  listen() {
    const held = new Map(), canvas = this.canvas;
    canvas.addEventListener('wheel', e => {
      e.preventDefault();
      this.zoom(Math.exp(Math.min(Math.max(e.deltaY, -200), 200) / 300), ...this.place(e));
    }, { passive: false });
    canvas.addEventListener('pointerdown', e => {
      if (e.isTrusted) canvas.setPointerCapture(e.pointerId);
      held.set(e.pointerId, this.place(e));
    });
    for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, e => held.delete(e.pointerId));
    canvas.addEventListener('pointerleave', () => { if (!held.size) { this.hide(); this.draw(); } });
    canvas.addEventListener('pointermove', e => {
      const now = this.place(e), before = held.get(e.pointerId);
      if (!before) { this.point(e); return; }
      const other = [...held].find(([id]) => id !== e.pointerId)?.[1];
      held.set(e.pointerId, now);
      if (!other) { this.move(now[0] - before[0], now[1] - before[1]); return; }
      const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1e-3;
      this.zoom(far(before, other) / far(now, other), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    });
    canvas.addEventListener('dblclick', () => { this.whole(); this.draw(); });
    canvas.addEventListener('keydown', e => {
        if (e.ctrlKey || e.altKey || e.metaKey) return; // these keys are the browser's: its zoom, its history
        const arrow = {
            ArrowLeft : [ -1, 0 ],
            ArrowRight : [ 1, 0 ],
            ArrowUp : [ 0, -1 ],
            ArrowDown : [ 0, 1 ]
        }[e.key];
        if (arrow && e.shiftKey)
            this.step(...arrow);
        else if (arrow)
            this.move(-.1 * arrow[0], -.1 * arrow[1]);
        else if (e.key === '+' || e.key === '=')
            this.zoom(1 / 1.5);
        else if (e.key === '-')
            this.zoom(1.5);
        else if (e.key === 'Escape' && this.hover >= 0) {
            this.hide();
            this.draw();
        } else if (e.key === '0') {
            this.whole();
            this.draw();
        } else
            return;
        e.preventDefault();
    });
    canvas.addEventListener('blur', () => {
        this.hide();
        this.draw();
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  // ---- what is under the pointer -----------------------------------------------------------

  hide() { this.hover = -1; this.tip.hidden = true; }

  point(event) {
    const r = this.canvas.getBoundingClientRect(), at = [event.clientX - r.left, event.clientY - r.top];
    const x = this.axes[this.x].values, y = this.axes[this.y].values;
    let nearest = -1, least = 15 ** 2;
    for (let i = 0; i < this.count && this.points.checked; i++) {
      const away = (this.px(x[i]) - at[0]) ** 2 + (this.py(y[i]) - at[1]) ** 2;
      if (away < least && this.look(i)) { least = away; nearest = i; }
    }
    this.show(nearest, at);
  }

  // From the point that is told to the next one in a direction, else to that nearest to the
  // middle.
  step(dx, dy)
  {
      const {left, top, width, height} = this.box, told = this.hover;
      const x = this.axes[this.x].values, y = this.axes[this.y].values;
      const from = told < 0 ? [ left + width / 2, top + height / 2 ]
                            : [ this.px(x[told]), this.py(y[told]) ];
      let next = -1, least = Infinity;
      for (let i = 0; i < this.count && this.points.checked; i++) {
          const px = this.px(x[i]), py = this.py(y[i]), a = px - from[0], b = py - from[1];
          const ahead = a * dx + b * dy,
                away = told < 0 ? Math.hypot(a, b) : ahead + 2 * Math.abs(a * dy + b * dx);
          if (!(away < least) || (told >= 0 && ahead < 0.5) || !this.look(i)) continue;
          if (px < left || px > left + width || py < top || py > top + height) continue;
          least = away;
          next = i;
      }
      if (next >= 0) this.show(next, [ this.px(x[next]), this.py(y[next]) ]);
  }

  show(nearest, at)
  { // a point, or none where it is -1
      if (nearest === this.hover) return;
      this.hover = nearest;
      this.tip.hidden = nearest < 0;
      if (nearest >= 0) this.describe(nearest, at);
      this.draw();
  }

  describe(i, at) {
    const lines = [`row ${grouped(this.rows[i])}`];
    for (const tint of this.tints)
      if (tint.classes) lines.push(`${tint.name}: ${tint.code[i] === NONE ? 'others' : tint.classes[tint.code[i]]}`);
      else if (tint.values) lines.push(`${tint.name}: ${short(tint.number[i])}`);
    for (const k of new Set([this.x, this.y]))
      if (k < this.data.components.length) lines.push(`component ${k + 1}: ${short(this.axes[k].values[i])}`);
    this.tip.replaceChildren(...lines.map((text, k) => {
      const line = document.createElement(k ? 'div' : 'strong');
      line.textContent = text; // never as markup
      return line;
    }));
    this.image(i);
    const stage = this.canvas.getBoundingClientRect();
    const left = at[0] + 18 + this.tip.offsetWidth > stage.width ? at[0] - 18 - this.tip.offsetWidth : at[0] + 18;
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${Math.max(0, Math.min(at[1], stage.height - this.tip.offsetHeight))}px`;
  }

  image(i) {
    const images = this.data.images;
    if (!images) return;
    images.of ??= new Map(Array.from({ length: images.count }, (_, k) => [Math.floor(k * this.count / images.count), k]));
    if (!images.of.has(i)) return;
    this.tip.append(picture(images, images.of.get(i), `the image of row ${this.rows[i]}`));
  }
}

for (const strip of document.querySelectorAll('.strip')) {
  const { rows, images } = JSON.parse(strip.querySelector('script').textContent);
  rows.forEach((row, k) => {
    const item = document.createElement('div');
    item.append(picture(images, k, `the image of row ${row}`), String(row));
    strip.append(item);
  });
}

// A command breaks between its words, so that no option loses its dashes.
for (const code of document.querySelectorAll('pre code')) {
    code.replaceChildren(...code.textContent.split(' ').flatMap((text, k) => {
        const word = document.createElement('span');
        word.className = 'word';
        word.textContent = text;
        return k ? [ ' ', word ] : [ word ];
    }));
}

// A table that is wider than its box scrolls there, also by keys.
const boxes = new ResizeObserver(seen => seen.forEach(({target : box}) => {
    const told = {
        tabindex : 0,
        role : 'region',
        'aria-label' : box.querySelector('caption').textContent
    };
    for (const [name, value] of Object.entries(told)) {
        if (box.scrollWidth > box.clientWidth)
            box.setAttribute(name, value);
        else
            box.removeAttribute(name);
    }
}));
document.querySelectorAll('.wide').forEach(box => boxes.observe(box));

const plots = [...document.querySelectorAll('figure.plot')].map(figure => new Plot(figure));
const redraw = () => plots.forEach(plot => { plot.figure.querySelector('.key').dataset.state = ''; plot.draw(); });
darkness.addEventListener('change', redraw);
addEventListener('beforeprint', () => { printing = true; redraw(); });
addEventListener('afterprint', () => { printing = false; redraw(); });
