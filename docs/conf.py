# How Sphinx renders the site. tools/site lays the pages out and runs it; every warning is an error.
project = "flowgraph"
extensions = ["myst_parser"]  # reads the Markdown that these pages are written in: CommonMark with GitHub's tables
html_theme = "furo"
html_title = "flowgraph"
html_show_copyright = False
html_copy_source = False
myst_heading_anchors = 4  # links to headings are checked too
highlight_language = "cpp"
# Pygments knows less C++ than the compilers, which have seen every snippet.
suppress_warnings = ["misc.highlighting_failure"]
