// What is on the page, for report/browser.rs: each chart with what it shows, and what does not fit.
(() => {
  const texts = (svg, selector) => [...svg.querySelectorAll(selector)].map(t => t.textContent);
  const drawn = e => { const b = e.getBBox(); return b.width > 0 || b.height > 0; };
  const count = (svg, selector) => [...svg.querySelectorAll(selector)].filter(drawn).length;
  const charts = [...document.querySelectorAll('section svg')].map(svg => ({
    section: svg.closest('section').id,
    name: svg.getAttribute('aria-label'),
    lines: count(svg, 'path.line:not(.then-bar)'),
    then: count(svg, 'path.then-bar'),
    bars: count(svg, 'rect.fill'),
    dots: count(svg, 'circle.dot'),
    ends: texts(svg, 'text.end'),
    names: texts(svg, 'text.name'),
    units: texts(svg, 'text.unit'),
    ticks: texts(svg, 'text.tick').length,
  }));
  // A text that leaves its chart, or covers another.
  const faults = [];
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect();
    const name = svg.getAttribute('aria-label');
    const all = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
    all.forEach(([text, box], i) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 ||
          box.top < frame.top - 1 || box.bottom > frame.bottom + 1) {
        faults.push(`${name}: "${text}" leaves the chart`);
      }
      all.slice(i + 1).forEach(([other, b]) => {
        const across = Math.min(box.right, b.right) - Math.max(box.left, b.left);
        const down = Math.min(box.bottom, b.bottom) - Math.max(box.top, b.top);
        // Lines of text may touch: their boxes are higher than their letters.
        if (across > 1 && down > Math.min(box.height, b.height) * 0.35) {
          faults.push(`${name}: "${text}" covers "${other}"`);
        }
      });
    });
  }
  return {
    charts, faults,
    sections: [...document.querySelectorAll('section[id]')].map(s => s.id),
    // Where nobody can scroll everything has to fit.
    cut: !matchMedia('print').matches ? [] : [...document.querySelectorAll('.wide')]
      .filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0)
      .map(e => `${(e.closest('section') || {}).id}: ${e.scrollWidth} > ${e.clientWidth}`),
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    paper: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.body).color,
  };
})()
