// Colours for numbers: a perceptually uniform scale that also works for colour-blind readers and in greyscale print.

// Points of the scale in Oklab: hue and chroma go from yellow over green to blue, as lightness falls evenly.
const POINTS = [
  { a: -0.002, b: 0.006 }, { a: -0.030, b: 0.062 }, { a: -0.068, b: 0.052 }, { a: -0.082, b: 0.004 },
  { a: -0.066, b: -0.050 }, { a: -0.034, b: -0.098 }, { a: -0.006, b: -0.128 }, { a: 0.018, b: -0.124 },
];
const LIGHT = [0.985, 0.32], DARK = [0.25, 0.93];  // lightness of 0 and of 1, on light and on dark ground
const STEPS = 256;

function gamma(linear) {
  const clipped = Math.min(1, Math.max(0, linear));
  return Math.round(255 * (clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055));
}

/** [red, green, blue] of a colour in Oklab. */
export function rgbOfOklab(lightness, a, b) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3;
  return [gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    gamma(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)];
}

/** The scale as 256 colours [red, green, blue]: from the ground's own colour to what differs from it most. */
export function scaleOf(dark) {
  const [from, to] = dark ? DARK : LIGHT, points = dark ? [{ a: 0, b: -0.012 }, ...POINTS.slice(1).reverse()] : POINTS;
  return Array.from({ length: STEPS }, (_, i) => {
    const share = i / (STEPS - 1), at = share * (points.length - 1), left = Math.min(Math.floor(at), points.length - 2);
    const [p, q] = [points[left], points[left + 1]], part = at - left;
    return rgbOfOklab(from + (to - from) * share, p.a + (q.a - p.a) * part, p.b + (q.b - p.b) * part);
  });
}

/** Relative luminance, as contrast is defined on it. */
export function luminance(rgb) {
  const [r, g, b] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export class Colours {
  constructor(dark) {
    this.dark = dark;
    this.scale = scaleOf(dark);
    this.css = this.scale.map((rgb) => `rgb(${rgb.join(" ")})`);
    this.ink = this.scale.map((rgb) => (luminance(rgb) > 0.179 ? "#000000" : "#ffffff"));
    // The scale as pixels of a picture.
    this.pixels = new Uint32Array(this.scale.map(([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r));
  }

  /** The step of the scale for a share between 0 and 1. */
  step(share) {
    return Math.max(0, Math.min(STEPS - 1, Math.round(share * (STEPS - 1)))) || 0;
  }
}

// Colours of heads, which have no order: distinct for all common kinds of colour blindness; repeated with dashes.
const HEADS = { light: ["#0072b2", "#d55e00", "#009e73", "#b3508f", "#8a6d00", "#3d8fc9", "#5b4bb0", "#6b6b6b"],
  dark: ["#56b4e9", "#f08a3c", "#2fd0a0", "#e48cc4", "#f0e442", "#9bd0ff", "#b0a4ff", "#bdbdbd"] };
const DASHES = [[], [6, 4], [2, 3], [10, 3, 2, 3]];

export function headStyle(index, dark) {
  const colours = dark ? HEADS.dark : HEADS.light;
  return { colour: colours[index % colours.length], dash: DASHES[Math.floor(index / colours.length) % DASHES.length] };
}
