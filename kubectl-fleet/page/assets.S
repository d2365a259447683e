/* The page's files: struct http_asset page_assets[]. A new one needs a line here. */
#define HTML "text/html; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
#define STYLE "text/css; charset=utf-8"
#define SVG "image/svg+xml"

#define ASSET(path, type)                                                                                    \
        4: .pushsection .rodata.page_names, "a"; 1: .asciz path; 2: .asciz type; .popsection;                   \
        .pushsection .data.rel.ro.page_assets, "aw"; .quad 1b, 2b, 3f, 4f - 3f; .popsection;                 \
        3:

        .pushsection .data.rel.ro.page_assets, "aw"
        .balign 8
        .global page_assets
        .hidden page_assets
page_assets:
        .popsection
        .section .rodata
/* Each begins where the one before it ends. */
        ASSET("/", HTML) .incbin "kubectl-fleet/page/web/index.html"
        ASSET("/icon.svg", SVG) .incbin "kubectl-fleet/page/web/icon.svg"
        ASSET("/style.css", STYLE) .incbin "kubectl-fleet/page/web/style.css"
        ASSET("/theme.js", SCRIPT) .incbin "kubectl-fleet/page/web/theme.js"
        ASSET("/app.js", SCRIPT) .incbin "kubectl-fleet/page/web/app.js"
        ASSET("/dom.js", SCRIPT) .incbin "kubectl-fleet/page/web/dom.js"
        ASSET("/router.js", SCRIPT) .incbin "kubectl-fleet/page/web/router.js"
        ASSET("/shell.js", SCRIPT) .incbin "kubectl-fleet/page/web/shell.js"
        ASSET("/socket.js", SCRIPT) .incbin "kubectl-fleet/page/web/socket.js"
        ASSET("/words.js", SCRIPT) .incbin "kubectl-fleet/page/web/words.js"
        ASSET("/table.js", SCRIPT) .incbin "kubectl-fleet/page/web/table.js"
        ASSET("/views/cluster.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/cluster.js"
        ASSET("/views/compare.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/compare.js"
        ASSET("/views/fleet-colours.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/fleet-colours.js"
        ASSET("/views/fleet-map.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/fleet-map.js"
        ASSET("/views/fleet.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/fleet.js"
        ASSET("/views/object.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/object.js"
        ASSET("/views/override-objects.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/override-objects.js"
        ASSET("/views/overrides.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/overrides.js"
        ASSET("/views/placement.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/placement.js"
        ASSET("/views/placements.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/placements.js"
        ASSET("/views/policy-try.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/policy-try.js"
        ASSET("/views/run-board.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/run-board.js"
        ASSET("/views/run-confirm.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/run-confirm.js"
        ASSET("/views/run-plan.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/run-plan.js"
        ASSET("/views/run.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/run.js"
        ASSET("/views/runs.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/runs.js"
        ASSET("/views/scheduling.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/scheduling.js"
        ASSET("/views/steps.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/steps.js"
        ASSET("/views/timeline-past.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/timeline-past.js"
        ASSET("/views/timeline-slider.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/timeline-slider.js"
        ASSET("/views/timeline.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/timeline.js"
        ASSET("/views/troubles.js", SCRIPT) .incbin "kubectl-fleet/page/web/views/troubles.js"
        4:
        .pushsection .data.rel.ro.page_assets, "aw"
        .quad 0, 0, 0, 0
        .popsection
        .section .note.GNU-stack,"",@progbits
