"use strict";
const sum = values => values.reduce((total, value) => total + value, 0);

// Three significant digits with an SI prefix, as the program's own tables have them.
function quantity(value, unit) {
  if (value === 0 || !isFinite(value)) return `${value} ${unit}`;
  if (unit === "%") return `${Number((100 * value).toPrecision(3))} %`;
  if (unit === "x") return `${Number(value.toPrecision(3)).toLocaleString("en")}x`;
  const prefixes = { 12: "T", 9: "G", 6: "M", 3: "k", 0: "", "-3": "m", "-6": "µ", "-9": "n", "-12": "p" };
  let power = Math.min(12, Math.max(-12, 3 * Math.floor(Math.log10(Math.abs(Number(value.toPrecision(3)))) / 3)));
  if (unit === "B" || unit === "") power = Math.max(0, power);
  if (unit === "s") power = Math.min(0, power);
  return `${Number((value / 10 ** power).toPrecision(3)).toLocaleString("en")} ${prefixes[power]}${unit}`.trim();
}

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made && key !== "style") made[key] = value; else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}
