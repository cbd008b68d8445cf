/* Draws every <figure class="chart" data-chart="id"> from the JSON in <script type="application/json" id="id">.
   Colours come from the stylesheet, so that a rule has one colour everywhere and dark mode follows. */
"use strict";
(() => {
  const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name.replaceAll("_", "-")}`).trim();
  const config = { displayModeBar: false, responsive: true, doubleClick: "reset" };
  /* the library reads some tags in its texts: a category called <b> is a category called <b> */
  const plain = (label) => String(label).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const DASHES = { offline_optimum: "dot", accuracy_aware: "dash", state_agnostic: "dashdot", reuse_only: "dash" };

  const layout = (chart, narrow) => ({
    margin: { l: narrow ? 48 : 62, r: chart.lines && !narrow ? 128 : 14, t: chart.points ? 44 : 12, b: 44 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12.5, color: token("muted") },
    hoverlabel: { bgcolor: token("card"), bordercolor: token("edge"), font: { color: token("ink") } },
    hovermode: chart.lines ? "x unified" : "closest",
    showlegend: Boolean(chart.points) || (Boolean(chart.lines) && narrow),
    legend: chart.points ? { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 } : { orientation: "h", y: -0.16, yanchor: "top", x: 0 },
    xaxis: { title: { text: narrow ? "" : chart.x_title || "" }, tickangle: chart.bars && chart.bars[0].x.length > 6 ? -38 : "auto", gridcolor: "rgba(0,0,0,0)", linecolor: token("line"), zeroline: false, fixedrange: true, automargin: true, type: chart.bars ? "category" : chart.points ? "log" : "linear", tickformat: chart.lines ? ",d" : "" },
    yaxis: { title: { text: chart.y_title || "", standoff: 10 }, gridcolor: token("line"), zerolinecolor: token("edge"), rangemode: "tozero", fixedrange: true, automargin: true, tickformat: chart.y_format || "" },
    bargap: 0.28,
  });

  /* a step stays flat for a little after the last question, so that its last rise can be seen */
  const line = (series) => ({
    type: "scatter", mode: "lines", name: series.title,
    x: [...series.x, series.x[series.x.length - 1] * 1.02 + 0.2], y: [...series.y, series.y[series.y.length - 1]],
    line: { color: token(series.name), width: series.name === "residual" ? 3 : 2, shape: "hv", dash: DASHES[series.name] || "solid" },
    ...(series.told ? { customdata: [...series.told, series.told[series.told.length - 1]], hovertemplate: "%{customdata}" } : { hovertemplate: "%{y}" }),
  });

  /* labels where the lines end, kept apart from each other */
  const labels = (chart, height) => {
    const ends = chart.lines.map((series) => ({ series, y: series.y[series.y.length - 1] })).sort((a, b) => a.y - b.y);
    const top = Math.max(...ends.map((end) => end.y), 1e-15);
    const room = (16 / height) * top;
    let last = -Infinity;
    for (const end of ends) { end.at = Math.max(end.y, last + room); last = end.at; }
    return ends.map((end) => ({
      x: 1, xref: "paper", xanchor: "left", xshift: 6, y: end.at, yanchor: "middle", showarrow: false, text: end.series.title,
      font: { color: token(`${end.series.name}-ink`), size: 12.5, weight: end.series.name === "residual" ? 700 : 500 },
    }));
  };

  const bars = (series) => ({
    type: "bar", name: series.title, x: series.x.map(plain), y: series.y, customdata: series.told || series.error, marker: { color: token(series.name) },
    ...(series.error ? { error_y: { type: "data", array: series.error, color: token("ink"), thickness: 1.4, width: 4 } } : {}),
    hovertemplate: series.error ? "%{x}: %{y} ± %{customdata}<extra></extra>" : series.told ? "%{x}: %{customdata}<extra></extra>" : "%{x}: %{y}<extra></extra>",
  });

  /* a bin that missed its target, by every rule that missed it; markers differ too, so that colour is not all there is */
  const MARKS = { residual: "circle", reuse_only: "x", budget_partition: "square", state_agnostic: "triangle-up", accuracy_aware: "diamond" };
  const points = (series) => ({
    type: "scatter", mode: "markers", name: series.title, x: series.x, y: series.y, customdata: series.told,
    marker: { color: token(series.name), symbol: MARKS[series.name] || "circle", size: 8, opacity: 0.8 },
    hovertemplate: "weight %{x:.3g}: %{customdata} missing",
  });

  const traces = (chart) => (chart.lines ? chart.lines.map(line) : chart.points ? chart.points.map(points) : chart.bars.map(bars));

  const draw = (figure) => {
    const data = document.getElementById(figure.dataset.chart);
    const place = figure.querySelector(".chart-plot");
    if (!data || !place || !window.Plotly) return;
    const chart = JSON.parse(data.textContent);
    const narrow = place.clientWidth < 560;
    const setting = layout(chart, narrow);
    if (chart.lines && !narrow) setting.annotations = labels(chart, place.clientHeight - 56);
    if (chart.lines) {
      const last = Math.max(...chart.lines.map((series) => series.x[series.x.length - 1]));
      setting.xaxis.range = [0, last * 1.02 + 0.2];
      if (last <= 12) setting.xaxis.dtick = 1;
    }
    window.Plotly.react(place, traces(chart), setting, config);
  };

  const drawAll = () => document.querySelectorAll("figure.chart").forEach(draw);
  document.addEventListener("DOMContentLoaded", drawAll);
  document.addEventListener("htmx:load", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
})();
