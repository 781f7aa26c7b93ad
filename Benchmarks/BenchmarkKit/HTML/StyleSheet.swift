/// How the page looks, in light and in dark.
enum StyleSheet {
  static let text = """
    :root { color-scheme: light dark; --paper: #fbfbf9; --card: #ffffff; --ink: #1d2327; --faint: #5f6a72; --rule: #dde1e3;
      --track: #eef0f1; --ours: #0f6fa8; --other: #9aa5ad; --slower: #c2570c; --second: #6d5bb5; --third: #2d8a6e; }
    @media (prefers-color-scheme: dark) { :root { --paper: #14181b; --card: #1c2226; --ink: #e6eaec; --faint: #9ba7af;
      --rule: #333c42; --track: #283036; --ours: #4fb0e6; --other: #75828b; --slower: #f0924a; --second: #a597e8; --third: #5cc4a3; } }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
    main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
    h1 { font-size: 1.9rem; line-height: 1.2; margin: .5rem 0; }
    h2 { font-size: 1.45rem; margin: 3rem 0 .25rem; border-top: 2px solid var(--ink); padding-top: 1rem; }
    h3 { font-size: 1.02rem; margin: 0 0 .15rem; }
    p { margin: .25rem 0 .75rem; }
    .faint, figcaption { color: var(--faint); font-size: .9rem; }
    .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem; margin: 1.25rem 0; }
    .tile, figure { background: var(--card); border: 1px solid var(--rule); border-radius: .6rem; padding: .9rem 1rem; }
    .tile b { display: block; font-size: 1.55rem; line-height: 1.25; font-variant-numeric: tabular-nums; }
    .grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: .75rem; margin: 1rem 0;
      align-items: start; }
    figure { margin: 0; min-width: 0; }
    figure.wide { grid-column: 1 / -1; }
    svg { display: block; margin-top: .5rem; overflow: visible; }
    svg text { fill: var(--ink); font-size: 13px; }
    svg text.value { text-anchor: end; font-variant-numeric: tabular-nums; }
    .track { fill: var(--track); } .ours { fill: var(--ours); } .other { fill: var(--other); } .slower { fill: var(--slower); }
    .tie { fill: var(--other); } .second { fill: var(--second); } .third { fill: var(--third); }
    .whisker { stroke: var(--ink); stroke-width: 1.25; opacity: .75; } .rule { stroke: var(--rule); stroke-width: 1; }
    .origin { stroke: var(--ink); stroke-width: 1.5; } .mark { stroke: var(--ink); stroke-width: 2; }
    .span { stroke-width: 3; stroke-linecap: round; } .span.ours { stroke: var(--ours); } .span.slower { stroke: var(--slower); }
    .span.tie { stroke: var(--other); }
    .scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .85rem; width: 100%; }
    th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid var(--rule); white-space: nowrap;
      font-variant-numeric: tabular-nums; }
    th:first-child { text-align: left; } thead th { color: var(--faint); font-weight: 600; } tbody th { font-weight: 400; }
    details { margin: .75rem 0; } summary { cursor: pointer; color: var(--faint); }
    pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8rem; background: var(--card); border: 1px solid var(--rule);
      border-radius: .6rem; padding: .8rem 1rem; }
    .key { display: inline-block; width: .75rem; height: .75rem; border-radius: .2rem; margin: 0 .3rem 0 .8rem; vertical-align: -.08rem; }
    .key.ours { background: var(--ours); } .key.other { background: var(--other); } .key.slower { background: var(--slower); }
    .wrong { color: var(--slower); font-weight: 600; }
    """
}
