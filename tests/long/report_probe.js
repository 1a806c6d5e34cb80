// Put at the end of a copy of a report, it does with the first plot what a reader does, and writes
// what it saw as JSON into the page.
(async () => {
  const figure = document.querySelector('figure.plot'), canvas = figure.querySelector('canvas');
  const tip = figure.querySelector('.tip'), seen = {};
  const pause = () => new Promise(done => setTimeout(done, 50));
  for (let i = 0; i < 100 && !figure.dataset.ready; i++) await pause();
  seen.ready = figure.dataset.ready === 'yes';

  // Pixels that are neither paper nor grid: those with a colour, or dark.
  const ink = () => {
    const { width, height } = canvas, data = canvas.getContext('2d').getImageData(0, 0, width, height).data;
    let count = 0, sum = 0;
    for (let i = 0; i < data.length; i += 4) {
      const [r, g, b, a] = data.slice(i, i + 4);
      if (a > 99 && Math.max(r, g, b) - Math.min(r, g, b) > 40) { count++; sum += i; }
    }
    return { count, sum };
  };
  const fire = (type, kind, x, y, more) => {
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new kind(type, { bubbles: true, cancelable: true, pointerId: 1,
      clientX: box.left + x * box.width, clientY: box.top + y * box.height, ...more }));
  };
  const choose = async (name, value) => {
    const select = figure.querySelector('.' + name);
    select.value = value;
    select.dispatchEvent(new Event('change'));
    await pause();
  };

  // The first screen, and whether anything is wider than it.
  const of = name => document.querySelector(name)?.getBoundingClientRect();
  seen.screen = [innerWidth, innerHeight];
  seen.below = ['figure.plot canvas', '.spectrum svg', '.certificate', '.cost'].filter(name => of(name)?.bottom > innerHeight);
  seen.sideways = document.documentElement.scrollWidth > innerWidth;
  seen.broken = [...document.querySelectorAll('td.n')].filter(e => e.getClientRects().length && e.offsetHeight > 40).length;
  seen.scales = canvas.dataset.scales;

  // The least contrast of a colour of the key with the paper of the plot.
  const light = color => {
    const [r, g, b] = color.match(/[0-9.]+/g).slice(0, 3).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const contrast = color => {
    const pair = [light(color), light(getComputedStyle(canvas).backgroundColor)].sort((a, b) => b - a);
    return (pair[0] + .05) / (pair[1] + .05);
  };
  const keyColors = () => {
    const ramp = figure.querySelector('.key .ramp');
    const swatches = [...figure.querySelectorAll('.key svg path')].map(e => getComputedStyle(e).fill);
    if (!ramp) return swatches;
    const data = ramp.getContext('2d').getImageData(0, 0, ramp.width, 1).data;
    return swatches.concat(Array.from({ length: ramp.width }, (_, i) => `rgb(${data.slice(4 * i, 4 * i + 3).join()})`));
  };
  seen.dark = matchMedia('(prefers-color-scheme: dark)').matches;

  seen.first = ink();

  // Everything that can be pointed at, as it is told.
  seen.tips = [];
  for (let y = 0.03; y < 0.95; y += 0.02)
    for (let x = 0.08; x < 0.99; x += 0.02) {
      fire('pointermove', PointerEvent, x, y);
      if (tip.hidden) continue;
      const image = tip.querySelector('canvas');
      const told = [...tip.children].filter(e => e !== image).map(e => e.textContent).join('; ');
      if (seen.tips.some(t => t.told === told)) continue;
      seen.tips.push({ told, image: image && [...image.getContext('2d').getImageData(0, 0, image.width, image.height).data]
        .filter((_, k) => k % 4 === 0).join(' ') });
    }
  fire('pointerleave', PointerEvent, 0.5, 0.5);
  seen.left = tip.hidden;

  fire('wheel', WheelEvent, 0.5, 0.5, { deltaY: -200 });
  await pause();
  seen.zoomed = ink();
  fire('pointerdown', PointerEvent, 0.5, 0.5);
  fire('pointermove', PointerEvent, 0.7, 0.6);
  fire('pointerup', PointerEvent, 0.7, 0.6);
  await pause();
  seen.moved = ink();
  fire('dblclick', MouseEvent, 0.5, 0.5);
  await pause();
  seen.whole = ink();
  canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '+', cancelable: true }));
  canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', cancelable: true }));
  await pause();
  seen.keys = ink();
  canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '0', cancelable: true }));
  await pause();
  seen.again = ink();

  seen.classes = [...figure.querySelectorAll('.key button')].map(b => b.textContent);
  figure.querySelector('.key button')?.click();
  await pause();
  seen.without = ink();
  figure.querySelector('.key button')?.click();
  await pause();
  const path = figure.querySelector('.path');
  seen.hasPath = !path.parentNode.hidden;
  const data = () => canvas.toDataURL(), drawn = data();
  path.click();
  await pause();
  seen.pathDrawn = data() !== drawn;
  path.click();
  await pause();
  seen.strip = [...document.querySelectorAll('.strip div')].map(e => e.textContent).join(' ');
  const marks = figure.querySelector('.marks');
  seen.axes = figure.querySelector('.across').options.length;
  await choose('across', 1);
  await choose('upwards', 0);
  seen.turned = ink();
  // Every pair of components, without the points that can be pointed at: what the raster shows.
  const points = figure.querySelector('.points');
  points.click();
  seen.pairs = [];
  for (let a = 0; a < Math.min(4, seen.axes - 1); a++)
    for (let b = 0; b < a; b++) {
      await choose('across', b);
      await choose('upwards', a);
      seen.pairs.push(ink().count);
    }
  points.click();
  await choose('across', 1);
  await choose('upwards', 0);
  const tints = figure.querySelector('.tint').options;
  seen.tints = [...tints].map(o => o.textContent);
  seen.inks = [];
  for (const option of tints) {
    await choose('tint', option.value);
    seen.inks.push(ink().count);
    seen.contrast = Math.min(seen.contrast ?? 99, ...keyColors().map(contrast));
  }
  marks.click();
  await pause();
  seen.errors = window.errors;
  seen.requests = performance.getEntriesByType('resource').filter(r => !r.name.startsWith('data:')).map(r => r.name);
  const out = document.createElement('pre');
  out.id = 'seen';
  out.textContent = JSON.stringify(seen, null, 1);
  document.body.replaceChildren(out);
})().catch(e => { document.body.textContent = `probe failed: ${e.stack}`; });
