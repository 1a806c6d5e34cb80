/* What page.js draws with: colours, numbers, ticks, shapes, and pictures of rows. */
// CLASSES and VIRIDIS, at fifteenths, are those of palette.c. On a dark page the dark ones are lighter: each has a
// contrast of at least 3:1 there, viridis from PALEST on.
const CLASSES_IN_DARK = ['#3b9fe0', '#ec7a2c', '#1fb98c', '#d68fb8', '#e69f00', '#8fd0f5', '#ffffff',
  '#c08a58', '#9a9aa2', '#f0e442', '#7755ee', '#ff00bb', '#00bb00', '#ff0055', '#557700', '#bbff99',
  '#ee88ff', '#7766bb', '#cc3377', '#00ffff'];
const PALEST = 0.36;
const NONE = 65535, SHAPES = 6, MARGIN = {left : 24, top : 12, right : 12, bottom : 40};
const FONT = '12px system-ui, sans-serif';
const darkness = matchMedia('(prefers-color-scheme: dark)');
let printing = false;
const isDark = () => darkness.matches && !printing;

const rgb = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
const classColor = k => k < 0 ? (isDark() ? '#8a8a92' : '#b4b4b4')
  : (isDark() ? CLASSES_IN_DARK : CLASSES)[k % CLASSES.length];
function viridis(t) {
  const seen = Math.min(Math.max(t, 0), 1), at = (isDark() ? PALEST + (1 - PALEST) * seen : seen) * (VIRIDIS.length - 1), k = Math.min(Math.floor(at), VIRIDIS.length - 2);
  const a = rgb(VIRIDIS[k]), b = rgb(VIRIDIS[k + 1]);
  return a.map((v, i) => Math.round(v + (b[i] - v) * (at - k)));
}
// Amounts: much is dark on white paper, and light on black.
const amount = t => viridis(isDark() ? t : 0.9 * (1 - t));
const css = c => typeof c === 'string' ? c : `rgb(${c.join(',')})`;

function bytes(text) {
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}
const codes = text => new Uint16Array(bytes(text).buffer);
const values = text => new Float64Array(bytes(text).buffer);
const isShort = x => x === 0 || Math.abs(x) >= 1e-3 && Math.abs(x) < 1e7; // without a power of ten
function short(x) {
  if (!Number.isFinite(x)) return '–';
  return (isShort(x) ? String(Math.abs(x) < 1000 ? +x.toPrecision(4) : Math.round(x)) : x.toExponential(3)).replaceAll('-', '−');
}
const ends = numbers => numbers.reduce(([low, high], v) => Number.isNaN(v) ? [low, high] : [Math.min(low, v), Math.max(high, v)],
  [Infinity, -Infinity]);
const grouped = n => n.toLocaleString('en');

// Round numbers of a range, with the decimals that their step has.
function ticks(low, high, wanted) {
  const raw = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(raw)), part = raw / power;
  const step = power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10), out = [];
  const most = Math.max(Math.abs(low), Math.abs(high)), exponent = isShort(most) ? 0 : Math.floor(Math.log10(most));
  const decimals = Math.min(Math.max(exponent - Math.floor(Math.log10(step) + 1e-9), 0), 12);
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  for (let k = Math.ceil(low / step); k * step <= high && out.length < 20; k++) {
    const at = k * step || 0, text = (at / 10 ** exponent).toLocaleString('en', digits); // no -0
    out.push({ at, text: (at && exponent ? `${text}e${exponent}` : text).replaceAll('-', '−') });
  }
  return out;
}

// The same six shapes as in pictures; classes beyond 20 differ in shape from those of their colour.
const shapeOf = k => (k % CLASSES.length + Math.floor(k / CLASSES.length)) % SHAPES;
function shape(path, kind, x, y, r) {
  const polygon = corners => {
    corners.forEach(([a, b], i) => i ? path.lineTo(x + a * r, y + b * r) : path.moveTo(x + a * r, y + b * r));
    path.closePath();
  };
  const plus = [[-.4, -1.2], [.4, -1.2], [.4, -.4], [1.2, -.4], [1.2, .4], [.4, .4], [.4, 1.2], [-.4, 1.2],
    [-.4, .4], [-1.2, .4], [-1.2, -.4], [-.4, -.4]];
  switch (kind) {
    case 1: polygon([[-.89, -.89], [.89, -.89], [.89, .89], [-.89, .89]]); break;
    case 2: polygon([[0, -1.45], [1.25, .75], [-1.25, .75]]); break;
    case 3: polygon([[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]]); break;
    case 4: polygon(plus.map(([a, b]) => [(a - b) * Math.SQRT1_2, (a + b) * Math.SQRT1_2])); break;
    case 5: polygon(plus); break;
    default: path.moveTo(x + r, y); path.arc(x, y, r, 0, 2 * Math.PI);
  }
}

function picture(images, k, alt) { // number k of them
  const canvas = document.createElement('canvas'), size = images.width * images.height;
  canvas.width = images.width;
  canvas.height = images.height;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', alt);
  images.bytes ??= bytes(images.grey);
  const g = canvas.getContext('2d'), image = g.createImageData(images.width, images.height);
  for (let p = 0; p < size; p++) {
    const grey = images.bytes[k * size + p];
    image.data.set([grey, grey, grey, 255], 4 * p);
  }
  g.putImageData(image, 0, 0);
  return canvas;
}

// The colours of a scale, between the words of its ends.
function addRamp(key, color, low, high) {
  const ramp = document.createElement('canvas'), g = ramp.getContext('2d');
  ramp.width = 128;
  ramp.height = 1;
  ramp.className = 'ramp';
  for (let i = 0; i < 128; i++) {
    g.fillStyle = css(color(i / 127));
    g.fillRect(i, 0, 1, 1);
  }
  key.append(low, ramp, high);
}

// The pixels of a picture that the page holds, when it is decoded.
const pixels = source => new Promise((done, failed) => {
  const image = new Image();
  image.onload = () => {
    const c = new OffscreenCanvas(image.width, image.height), g = c.getContext('2d');
    g.drawImage(image, 0, 0);
    done({ width: image.width, height: image.height, data: g.getImageData(0, 0, image.width, image.height).data });
  };
  image.onerror = failed;
  image.src = source;
});
